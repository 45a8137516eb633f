package io.github.distributedpermit.core.key;

/**
 * The clock as the events of one key read it. If the timer of the queue is much overdue, the process stood still: answers
 * that arrived meanwhile are still to be read, so no claim may be counted as unanswered for that time. Whichever event is the
 * first to read the clock detects it. Guarded by the lock of the {@link KeyQueue}.
 */
final class ProcessClock {

    private final KeyQueueHost host;
    private final KeyQueueTimer timer;
    private final KeyQueueState state;

    ProcessClock(KeyQueueHost host, KeyQueueTimer timer, KeyQueueState state) {
        this.host = host;
        this.timer = timer;
        this.state = state;
    }

    /** The time, after a standstill has been taken into account. */
    long now() {
        long now = host.now();
        long late = timer.lateBy(now);
        if (state.policy().isStandstill(late)) {
            timer.excuse(now);
            state.failures.stoodStill(late, now);
        }
        return now;
    }
}
