package io.github.distributedpermit.core.call;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.KeyQueue;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Waiter;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A call that waits without a thread: the future that users get, and the {@link Waiter} behind it. A timer ends it at its
 * time-out, cancelling the future takes it out of the queue, and its end runs on the executor for continuations.
 * Thread-safe.
 */
final class FutureCall extends CompletableFuture<Permit> {

    private static final AtomicIntegerFieldUpdater<FutureCall> ENDING =
            AtomicIntegerFieldUpdater.newUpdater(FutureCall.class, "ending");

    /** The time-out is tried again this long after an error. */
    private static final long AFTER_ERROR = TimeUnit.MILLISECONDS.toNanos(100);

    private final PermitName permit;
    private final PermitRequest request;
    private final KeyRegistry registry;
    private final Outcomes outcomes;
    private final Waiter waiter;
    private final long deadline;
    private volatile Scheduler.@Nullable Timer timer;
    /** Whether the end of the call has begun; it may be triggered more than once. */
    private volatile int ending;

    FutureCall(PermitName permit, PermitRequest request, KeyRegistry registry, Outcomes outcomes) {
        long now = registry.now();
        this.permit = permit;
        this.request = request;
        this.registry = registry;
        this.outcomes = outcomes;
        this.deadline = ParkedCall.deadline(permit, request, now);
        this.waiter = new Waiter(
                permit,
                request.key(),
                request.permits(),
                request.block(),
                now,
                this::decided,
                request.onStoreFailure());
        waiter.deadline = deadline;
        waiter.asynchronous = true;
    }

    Waiter waiter() {
        return waiter;
    }

    /** Ends the call at its time-out, and takes it out of the queue when its future is cancelled. */
    void follow(KeyQueue queue) {
        endAt(deadline, queue);
        whenComplete((permit, failure) -> giveUp(queue, Outcome.Abandoned.ABANDONED));
    }

    private void endAt(long time, KeyQueue queue) {
        if (time != Long.MAX_VALUE && waiter.outcome() == null) {
            StackRoom.check();
            timer = registry.scheduler().schedule(() -> timedOut(time, queue), Math.max(0, time - registry.now()));
            // the call may have been decided between the two, and then has seen no timer
            if (waiter.outcome() != null) {
                stopTimer();
            }
        }
    }

    private void timedOut(long time, KeyQueue queue) {
        try {
            long extended = queue.extendedTime(waiter, time);
            if (extended > 0) {
                endAt(extended, queue);
            } else {
                giveUp(queue, queue.atTimeout(waiter));
            }
        } catch (RuntimeException | Error e) {
            // this was the call's only timer: without another it would wait for ever
            Outcome outcome = waiter.outcome();
            if (outcome == null) {
                timer = registry.scheduler().schedule(() -> timedOut(time, queue), AFTER_ERROR);
            } else {
                decided(outcome);
            }
            throw e;
        }
    }

    private void giveUp(KeyQueue queue, Outcome outcome) {
        if (waiter.decide(outcome)) {
            try {
                queue.left(waiter);
            } finally {
                // no other thread ends the call once this one has decided it
                decided(outcome);
            }
        }
    }

    /** Ends the call on the executor for continuations. Has no effect the second time, see {@link #end}. */
    private void decided(Outcome outcome) {
        StackRoom.check();
        stopTimer();
        registry.callback(() -> end(outcome));
    }

    /** Completes the future. Runs once, although a waiter may be woken more than once. */
    private void end(Outcome outcome) {
        if (!ENDING.compareAndSet(this, 0, 1)) {
            return;
        }
        Permit permit;
        try {
            permit = outcomes.permit(this.permit, request, waiter, outcome);
        } catch (RuntimeException | Error e) {
            if (outcome instanceof Grant grant) {
                grant.release(); // if there was not even room for the call above
            }
            completeExceptionally(e);
            return;
        }
        // the future was cancelled meanwhile, so no caller gets the permit
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

    /**
     * Overridden to show that a cancellation ends the call: the advice passes one on only to futures whose class does something about
     * it. A permit that arrives after its caller has left would have no owner.
     */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return super.cancel(mayInterruptIfRunning);
    }

    /** Dependent stages are ordinary futures: cancelling one of them does not cancel this call. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
