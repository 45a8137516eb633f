package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.scenario.Stage.Target;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** What can be done to a member, whatever its store is. */
final class ProcessFaults {

    private static final Duration A_SECOND = Duration.ofSeconds(1);

    private static final int DEEP_CALLS = 200;

    private static final long RETURNED = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long JUST = TimeUnit.MILLISECONDS.toNanos(30);

    private ProcessFaults() {}

    /** {@code kill -9} of a process that holds: by the call that was aimed at or, on a slow machine, by a later one. */
    static boolean killHolder(Stage stage, Store store) throws Exception {
        return kill(stage, stage.aim(Call::isInside), target -> stage.anyCall(target.member(), Call::isInside));
    }

    /**
     * {@code kill -9} of a process that waits and has just begun to, so that its turn is some calls away: one that dies
     * while its grant is on the way dies as a holder, and a process needs some milliseconds to be dead. Nor has it begun
     * this very moment: what its call before gave back travels behind that call, and would end with the process.
     */
    static boolean killWaiter(Stage stage, Store store) throws Exception {
        return kill(stage, stage.aim(ProcessFaults::hasBegunToWait), target -> stage.isStill(target, Call::isWaiting));
    }

    private static boolean hasBegunToWait(Call call) {
        long waited = System.nanoTime() - call.asked();
        return call.isWaiting() && waited > RETURNED && waited < JUST;
    }

    private static boolean kill(Stage stage, Target target, Predicate<Target> struck) throws Exception {
        stage.circumstances().died(target.member().number(), target.member().kill());
        boolean hit = struck.test(target);
        stage.awaitOthers(target.member());
        stage.replace(target.member());
        return hit;
    }

    /** A process makes calls from so deep in a stack that many of them end with a {@link StackOverflowError}. */
    static boolean overflow(Stage stage, Store store) throws Exception {
        Target target = stage.aim(Call::isInside);
        int keys = stage.setup().orders().keys();
        String answer = target.member().ask("overflow " + keys + " " + DEEP_CALLS);
        return Integer.parseInt(answer.split(" ")[1]) > 0;
    }

    /** {@code SIGTERM} of a process that holds and waits. */
    static boolean terminate(Stage stage, Store store) throws Exception {
        Target target = stage.aim(Call::isInside);
        long took = target.member().terminate();
        stage.expect(took < A_SECOND.plus(A_SECOND).toNanos(), "a process left in %d ms".formatted(took / 1_000_000));
        stage.replace(target.member());
        return true;
    }

    /** {@code SIGSTOP} of a process that holds, for longer than the lease, then {@code SIGCONT}. */
    static boolean stopHolder(Stage stage, Store store) throws Exception {
        return stopHolder(stage, stage.setup().lease());
    }

    /** Likewise, for longer than what outlives it in the store. */
    static boolean stopHolder(Stage stage, Duration life) throws Exception {
        Target target = stage.aim(Call::isInside);
        long from = System.nanoTime();
        target.member().stop();
        boolean hit = stage.isStill(target, Call::isInside);
        try {
            Stage.during(stage.between(life, life.multipliedBy(3).dividedBy(2)));
        } finally {
            target.member().resume();
        }
        stage.circumstances().paused(target.member().number(), new Span(from, System.nanoTime()));
        return hit;
    }
}
