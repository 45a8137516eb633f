package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.github.distributedpermit.spi.StackRoom;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Test;

/**
 * The queue and its hand-over under Lincheck's model checking. Each check runs three scenarios in which a grant meets a
 * cancellation, a release or an arrival; {@code -Plong} adds random ones. The mutant without compare-and-set is found in the
 * three scenarios alone.
 */
class LincheckTest {

    private static final boolean LONG = Boolean.getBoolean("tests.long");
    private static final int RANDOM_SCENARIOS = LONG ? 15 : 0;
    private static final int INTERLEAVINGS = LONG ? 500 : 250;

    /** The check ends with the first one that fails. */
    private static final int INTERLEAVINGS_OF_A_MUTANT = 3_000;

    /** Calls 0 and 1 wait or hold; the release of one grants to the other, which leaves at the same time. */
    private static ExecutionScenario grantMeetsCancellation() {
        return scenario(List.of(arrive(0), arrive(1)), List.of(leave(0)), List.of(leave(1)), List.of(arrive(0)));
    }

    private static ExecutionScenario grantMeetsArrivalAndCancellation() {
        return scenario(
                List.of(arrive(0)), List.of(leave(0), arrive(0)), List.of(arrive(1), leave(1)), List.of(arrive(1)));
    }

    private static ExecutionScenario callsComeAndLeave() {
        return scenario(List.of(), List.of(arrive(0), leave(0)), List.of(arrive(1), leave(1)), List.of(arrive(0)));
    }

    private static ExecutionScenario scenario(
            List<Actor> before, List<Actor> first, List<Actor> second, List<Actor> after) {
        return new ExecutionScenario(before, List.of(first, second), after, actor("everyPermitHasItsCall"));
    }

    private static Actor arrive(int call) {
        return actor("arrive", call);
    }

    private static Actor leave(int call) {
        return actor("leave", call);
    }

    private static Actor actor(String operation, Object... arguments) {
        Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {int.class};
        try {
            return new Actor(QueueUnderLincheck.class.getMethod(operation, types), List.of(arguments));
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private static ModelCheckingOptions interleavings(int randomScenarios, int most) {
        return new ModelCheckingOptions()
                .addCustomScenario(grantMeetsCancellation())
                .addCustomScenario(grantMeetsArrivalAndCancellation())
                .addCustomScenario(callsComeAndLeave())
                .iterations(randomScenarios)
                .invocationsPerIteration(most)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(2)
                .actorsAfter(1)
                // The recursion in this class touches no shared state, and Lincheck reports it as a livelock.
                .addGuarantee(forClasses(StackRoom.class.getName()).allMethods().ignore())
                .minimizeFailedScenario(false);
    }

    @Test
    void noInterleavingLosesAPermitOrLeavesOneFreeWhileACallWaits() {
        interleavings(RANDOM_SCENARIOS, INTERLEAVINGS).check(QueueUnderLincheck.class);
    }

    @Test
    void noInterleavingLosesAnIdlePermit() {
        interleavings(RANDOM_SCENARIOS, INTERLEAVINGS).check(IdleQueueUnderLincheck.class);
    }

    @Test
    void withoutTheCompareAndSetAnInterleavingLosesAPermit() {
        assertThatThrownBy(() -> interleavings(0, INTERLEAVINGS_OF_A_MUTANT).check(QueueWithoutCompareAndSet.class))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("permits in use");
    }
}
