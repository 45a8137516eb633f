package io.github.distributedpermit.core;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Test;

/** The line and its hand-over under Lincheck's model checking, bounded in scenarios and interleavings. */
class LincheckTest {

    private static ModelCheckingOptions interleavings(int scenarios) {
        return new ModelCheckingOptions()
                .iterations(scenarios)
                .invocationsPerIteration(600)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(1)
                .minimizeFailedScenario(false);
    }

    @Test
    void noInterleavingLosesAPermitOrLeavesOneFreeWhileACallWaits() {
        interleavings(12).check(LineUnderLincheck.class);
    }

    @Test
    void noInterleavingLosesAPermitThatLiesIdle() {
        interleavings(8).check(IdleLineUnderLincheck.class);
    }

    @Test
    void withoutTheCompareAndSetAnInterleavingLosesAPermit() {
        assertThatThrownBy(() -> interleavings(100).check(LineWithoutCompareAndSet.class))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("permits in use");
    }
}
