package io.github.distributedpermit.core.key;

/**
 * The clock as the events of one key read it. If the timer of the queue, or the time-out of one of its calls, is much overdue, the
 * process stood still: answers that arrived meanwhile are still to be read, so no claim may be counted as unanswered for that time.
 * Whichever event is the first to read the clock detects it. Guarded by the lock of the {@link KeyQueue}.
 */
final class ProcessClock {

    private final KeyQueueHost host;
    private final KeyQueueTimer timer;
    private final KeyQueueState state;

    /** Until when each standstill has been taken into account. */
    private long known = Long.MIN_VALUE;

    ProcessClock(KeyQueueHost host, KeyQueueTimer timer, KeyQueueState state) {
        this.host = host;
        this.timer = timer;
        this.state = state;
    }

    /** The time, after a standstill has been taken into account. */
    long now() {
        return now(Times.NEVER);
    }

    /** The same at an event that was due at this time. */
    long now(long due) {
        long now = host.now();
        long from = Math.max(Math.min(due, timer.at()), known);
        if (from < now && state.policy().isStandstill(now - from)) {
            timer.excuse(now);
            known = now;
            state.failures.stoodStill(now - from, now);
        }
        return now;
    }
}
