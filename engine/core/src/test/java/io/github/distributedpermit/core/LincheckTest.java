package io.github.distributedpermit.core;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.github.distributedpermit.spi.StackRoom;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Test;

/**
 * The queue and its hand-over under Lincheck's model checking, bounded in scenarios and interleavings. The short form has
 * as many scenarios as it takes to find the mutant, which is checked with the same number.
 */
class LincheckTest {

    private static final boolean LONG = Boolean.getBoolean("tests.long");
    private static final int SCENARIOS = LONG ? 60 : 15;
    private static final int IDLE_SCENARIOS = LONG ? 24 : 5;

    private static ModelCheckingOptions interleavings(int scenarios) {
        return new ModelCheckingOptions()
                .iterations(scenarios)
                .invocationsPerIteration(1_500)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(2)
                .actorsAfter(1)
                // Its recursion touches nothing that is shared, and looks like a loop that never ends.
                .addGuarantee(forClasses(StackRoom.class.getName()).allMethods().ignore())
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
