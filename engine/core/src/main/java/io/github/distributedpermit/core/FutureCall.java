package io.github.distributedpermit.core;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A call that waits without a thread. Thread-safe. */
final class FutureCall extends CompletableFuture<Permit> {

    private static final AtomicIntegerFieldUpdater<FutureCall> ENDING =
            AtomicIntegerFieldUpdater.newUpdater(FutureCall.class, "ending");

    /** The time-out is tried again so long after an error. */
    private static final long AFTER_ERROR = TimeUnit.MILLISECONDS.toNanos(100);

    private final NameUse use;
    private final PermitRequest request;
    private final Lines lines;
    private final CallEnds ends;
    private final Waiter waiter;
    private final long deadline;
    private volatile Scheduler.@Nullable Timer timer;
    private volatile int ending;

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

    /** From now on the call ends at its time-out, and when its future is cancelled. */
    void follow(KeyLine line) {
        endAt(deadline, line);
        whenComplete((permit, failure) -> giveUp(line, Outcome.Abandoned.ABANDONED));
    }

    private void endAt(long time, KeyLine line) {
        if (time != Long.MAX_VALUE && waiter.outcome() == null) {
            StackRoom.check();
            timer = lines.scheduler().schedule(() -> timedOut(line), Math.max(0, time - lines.now()));
            if (waiter.outcome() != null) {
                stopTimer();
            }
        }
    }

    private void timedOut(KeyLine line) {
        try {
            long extended = line.extendedTime(waiter);
            if (extended > 0) {
                endAt(extended, line);
            } else {
                giveUp(line, line.atTimeout(waiter));
            }
        } catch (RuntimeException | Error e) {
            // this was the call's only timer: without another it would wait for ever
            Outcome outcome = waiter.outcome();
            if (outcome == null) {
                timer = lines.scheduler().schedule(() -> timedOut(line), AFTER_ERROR);
            } else {
                decided(outcome);
            }
            throw e;
        }
    }

    private void giveUp(KeyLine line, Outcome outcome) {
        if (waiter.decide(outcome)) {
            try {
                line.left(waiter);
            } finally {
                decided(outcome); // nobody else ends the call once this is decided; the line looks at itself again
            }
        }
    }

    /** Of no effect the second time, see {@link #end}. */
    private void decided(Outcome outcome) {
        StackRoom.check();
        stopTimer();
        lines.callback(() -> end(outcome));
    }

    /** Of effect once: a waiter may be woken more than once. */
    private void end(Outcome outcome) {
        if (!ENDING.compareAndSet(this, 0, 1)) {
            return;
        }
        Permit permit;
        try {
            permit = ends.permit(use, request, waiter, outcome);
        } catch (RuntimeException | Error e) {
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
