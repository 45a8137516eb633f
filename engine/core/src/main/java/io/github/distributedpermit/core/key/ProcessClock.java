package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.store.Standstill;

/**
 * The clock as the events of one key read it. If the timer of the queue, or the time-out of one of its calls, is much overdue, the
 * process stood still: answers that arrived meanwhile are still to be read, so no claim may be counted as unanswered for that time.
 * Whichever event is the first to read the clock detects it. Guarded by the lock of the {@link KeyQueue}.
 */
final class ProcessClock {

    private final KeyQueueHost host;
    private final KeyQueueTimer timer;
    private final ClaimFailures failures;

    private final Standstill standstill = new Standstill();

    ProcessClock(KeyQueueHost host, KeyQueueTimer timer, ClaimFailures failures) {
        this.host = host;
        this.timer = timer;
        this.failures = failures;
    }

    /** The time, after a standstill has been taken into account. */
    long now() {
        return now(Times.NEVER);
    }

    /** The same at an event that was due at this time. */
    long now(long due) {
        long now = host.now();
        long first = Math.min(due, timer.at());
        long length = standstill.unknown(first, now);
        if (failures.isStandstill(length)) {
            standstill.note(first, now);
            timer.excuse(now);
            failures.stoodStill(length, first, now);
        }
        return now;
    }
}
