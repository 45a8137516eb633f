package io.github.distributedpermit.core;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A call that waits without a thread. Thread-safe. */
final class FutureCall extends CompletableFuture<Permit> {

    private final NameUse use;
    private final PermitRequest request;
    private final Lines lines;
    private final CallEnds ends;
    private final Waiter waiter;
    private final long deadline;
    private volatile Scheduler.@Nullable Timer timer;

    FutureCall(NameUse use, PermitRequest request, Lines lines, CallEnds ends) {
        long now = lines.now();
        this.use = use;
        this.request = request;
        this.lines = lines;
        this.ends = ends;
        this.deadline = ParkedCall.deadline(use, request, now);
        this.waiter = new Waiter(use, request.permits(), request.block(), now, this::decided);
    }

    Waiter waiter() {
        return waiter;
    }

    /** The call need not wait at all. */
    void serve(Grant grant) {
        use.waiters.addAndGet(waiter.queueing ? 1 : 0);
        waiter.decide(grant);
        decided(grant);
    }

    /** From now on the call ends at its time-out, and when its future is cancelled. */
    void follow(KeyLine line) {
        endAt(deadline, line);
        whenComplete((permit, failure) -> giveUp(line, Outcome.Abandoned.ABANDONED));
    }

    private void endAt(long time, KeyLine line) {
        if (time != Long.MAX_VALUE && waiter.outcome() == null) {
            timer = lines.scheduler().schedule(() -> timedOut(line), Math.max(0, time - lines.now()));
            if (waiter.outcome() != null) {
                stopTimer();
            }
        }
    }

    private void timedOut(KeyLine line) {
        long extended = line.extendedTime(waiter);
        if (extended > 0) {
            endAt(extended, line);
        } else {
            giveUp(line, line.atTimeout(waiter));
        }
    }

    private void giveUp(KeyLine line, Outcome outcome) {
        if (waiter.decide(outcome)) {
            line.left(waiter);
            decided(outcome);
        }
    }

    private void decided(Outcome outcome) {
        stopTimer();
        lines.callback(() -> end(outcome));
    }

    private void end(Outcome outcome) {
        Permit permit;
        try {
            permit = ends.permit(use, request, waiter, outcome);
        } catch (RuntimeException e) {
            completeExceptionally(e);
            return;
        }
        if (!complete(permit)) {
            permit.release();
        }
    }

    private void stopTimer() {
        Scheduler.Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    /** Stages that follow are ordinary futures: cancelling them leaves this call alone. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
