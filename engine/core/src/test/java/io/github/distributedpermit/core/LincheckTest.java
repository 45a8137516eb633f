package io.github.distributedpermit.core;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Test;

/**
 * The queue and its hand-over under Lincheck's model checking, bounded in scenarios and interleavings. The short form has
 * as many scenarios as it takes to find the mutant, which is checked with the same number.
 */
class LincheckTest {

    private static final boolean LONG = Boolean.getBoolean("tests.long");
    private static final int SCENARIOS = LONG ? 12 : 5;
    private static final int IDLE_SCENARIOS = LONG ? 8 : 3;

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
        interleavings(SCENARIOS).check(LineUnderLincheck.class);
    }

    @Test
    void noInterleavingLosesAPermitThatLiesIdle() {
        interleavings(IDLE_SCENARIOS).check(IdleLineUnderLincheck.class);
    }

    @Test
    void withoutTheCompareAndSetAnInterleavingLosesAPermit() {
        assertThatThrownBy(() -> interleavings(SCENARIOS).check(LineWithoutCompareAndSet.class))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("permits in use");
    }
}
