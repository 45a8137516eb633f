package io.github.distributedpermit.core.call;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Waiter;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A call whose own thread waits, parked, until its {@link Waiter} is decided, it is interrupted or its time-out has passed.
 * Confined to that thread, but for the wake-up. A thread that has not begun to wait is not woken, because its next
 * {@code park}, which may be one of the application, would return at once.
 */
final class ParkedCall {

    private final Thread caller = Thread.currentThread();
    private final Waiter waiter;
    private long deadline;
    private volatile boolean waiting;

    ParkedCall(PermitName permit, PermitRequest request, long now) {
        this.deadline = deadline(permit, request, now);
        this.waiter = new Waiter(
                permit,
                request.key(),
                request.permits(),
                request.block(),
                now,
                outcome -> wake(),
                request.onStoreFailure());
        waiter.deadline = deadline;
    }

    /** Called once the outcome is decided, so a thread that begins to wait after this look sees the outcome. */
    private void wake() {
        if (waiting) {
            LockSupport.unpark(caller);
        }
    }

    /** When the wait ends. A call that does not wait for a permit still waits for the store, for one command time-out. */
    static long deadline(PermitName permit, PermitRequest request, long now) {
        if (!request.block()) {
            return now + permit.policy().commandTimeout();
        }
        Duration timeout = request.timeout();
        return timeout == null ? Long.MAX_VALUE : now + nanos(timeout);
    }

    /** The time-out in nanoseconds; a huge one is cut so that it does not overflow. */
    private static long nanos(Duration timeout) {
        return timeout.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : timeout.toNanos();
    }

    private static final Duration LONGEST = Duration.ofDays(365L * 100);

    Waiter waiter() {
        return waiter;
    }

    /**
     * Waits for the outcome. On an interrupt the call leaves the queue if it may, unless it was just served: then it returns with its
     * permit and the flag of the thread set. On an error it leaves the queue, or gives back what it was granted.
     */
    Outcome await(KeyQueue queue, Outcomes outcomes, boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                Outcome outcome = waiter.outcome();
                if (outcome != null) {
                    return outcome;
                }
                if (!interrupted || !interruptible) {
                    park(queue);
                    interrupted |= Thread.interrupted();
                } else if (giveUp(queue, Outcome.Abandoned.ABANDONED)) {
                    interrupted = false;
                    outcomes.abandoned(waiter.permit, waiter);
                    long waited = queue.host().now() - waiter.arrival;
                    throw new InterruptedException("Interrupted after waiting %d ms for permit '%s', key '%s'"
                            .formatted(
                                    waited / 1_000_000,
                                    LogSafe.escape(waiter.permit.name()),
                                    LogSafe.escape(queue.key())));
                }
            }
        } catch (RuntimeException | Error e) {
            drop(queue, outcomes);
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** An error ended the wait: the call leaves the queue, or gives back what it has just been granted, which no caller gets. */
    private void drop(KeyQueue queue, Outcomes outcomes) {
        outcomes.left(waiter.permit, waiter);
        if (!giveUp(queue, Outcome.Abandoned.ABANDONED) && waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
        outcomes.abandoned(waiter.permit, waiter);
    }

    /** Waits until woken, or ends the wait at the time-out. May return early; the caller looks at the outcome. */
    private void park(KeyQueue queue) {
        waiting = true;
        if (waiter.outcome() != null) {
            return;
        }
        if (deadline == Long.MAX_VALUE) {
            LockSupport.park(queue);
            return;
        }
        long left = deadline - queue.host().now();
        if (left > 0) {
            LockSupport.parkNanos(queue, left);
            return;
        }
        long extended = queue.extendedTime(waiter, deadline);
        if (extended > 0) {
            deadline = extended;
        } else {
            giveUp(queue, queue.atTimeout(waiter));
        }
    }

    /** Ends the call with this outcome; {@code false} if it was decided before. */
    private boolean giveUp(KeyQueue queue, Outcome outcome) {
        boolean decided = waiter.decide(outcome);
        if (decided) {
            queue.left(waiter);
        }
        return decided;
    }
}
