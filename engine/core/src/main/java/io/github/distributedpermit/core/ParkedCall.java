package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A call whose own thread waits. Confined to that thread, but for the wake-up. */
final class ParkedCall {

    private final Waiter waiter;
    private long deadline;

    ParkedCall(NameUse use, PermitRequest request, long now) {
        Thread caller = Thread.currentThread();
        this.deadline = deadline(use, request, now);
        this.waiter = new Waiter(use, request.permits(), request.block(), now, outcome -> LockSupport.unpark(caller));
    }

    /** A call that does not wait for a permit still waits for the store, for one command time-out; see also {@link #park}. */
    static long deadline(NameUse use, PermitRequest request, long now) {
        if (!request.block()) {
            return now + use.policy.commandTimeout();
        }
        Duration timeout = request.timeout();
        return timeout == null ? Long.MAX_VALUE : now + nanos(timeout);
    }

    /** A huge time-out is as good as none for two centuries. */
    private static long nanos(Duration timeout) {
        return timeout.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : timeout.toNanos();
    }

    private static final Duration LONGEST = Duration.ofDays(365L * 100);

    Waiter waiter() {
        return waiter;
    }

    /**
     * Waits for the outcome. On an interrupt the call leaves the line, unless it was just served: then it keeps that. On an
     * error it leaves the line, or gives back what it was served.
     */
    Outcome await(KeyLine line, CallEnds ends) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                Outcome outcome = waiter.outcome();
                if (outcome != null) {
                    return outcome;
                }
                if (interrupted) {
                    if (giveUp(line, Outcome.Abandoned.ABANDONED)) {
                        interrupted = false;
                        ends.left(waiter.use, waiter);
                        long waited = line.host().now() - waiter.arrival;
                        throw new InterruptedException("Interrupted after waiting %d ms for permit '%s', key '%s'"
                                .formatted(
                                        waited / 1_000_000, Text.escape(waiter.use.name()), Text.escape(line.key())));
                    }
                    continue;
                }
                park(line);
                interrupted = Thread.interrupted();
            }
        } catch (RuntimeException | Error e) {
            ends.left(waiter.use, waiter);
            if (!giveUp(line, Outcome.Abandoned.ABANDONED) && waiter.outcome() instanceof Grant grant) {
                grant.release();
            }
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void park(KeyLine line) {
        if (deadline == Long.MAX_VALUE) {
            LockSupport.park(line);
            return;
        }
        long left = deadline - line.host().now();
        if (left > 0) {
            LockSupport.parkNanos(line, left);
            return;
        }
        long extended = line.extendedTime(waiter);
        if (extended > 0) {
            deadline = extended;
        } else {
            giveUp(line, line.atTimeout(waiter));
        }
    }

    private boolean giveUp(KeyLine line, Outcome outcome) {
        boolean decided = waiter.decide(outcome);
        if (decided) {
            line.left(waiter);
        }
        return decided;
    }
}
