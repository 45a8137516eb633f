package io.github.distributedpermit.aop.async;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * What the caller of a limited method gets: ends as the future of the method does, after the permits were released. If its
 * caller ends it before, a waiting call leaves the queue; cancelling it cancels the future of the method as well, and the
 * permits are held until that has ended. Thread-safe.
 */
final class HeldFuture extends CompletableFuture<@Nullable Object> {

    private final LimitedCall call;
    private final Acquisition acquisition;
    private volatile @Nullable Future<?> work;

    HeldFuture(LimitedCall call, Acquisition acquisition) {
        this.call = call;
        this.acquisition = acquisition;
        whenComplete((value, failure) -> abandon());
    }

    /** Of no effect if the work has ended this future. */
    private void abandon() {
        acquisition.cancel(false);
        Future<?> running = work;
        if (running != null && isCancelled()) {
            cancel(running);
        }
    }

    /** Work that can't be cancelled goes on, and holds its permits until it ends. */
    private static void cancel(Future<?> running) {
        try {
            running.cancel(true);
        } catch (RuntimeException e) {
            // such as the UnsupportedOperationException of a minimal stage
        }
    }

    /** The permits were taken, or could not be. */
    void decided(@Nullable PermitBundle permits, @Nullable Throwable failure) {
        if (isDone()) {
            if (permits != null) {
                permits.release();
            }
            return;
        }
        try {
            Object returned = permits != null ? permits.begin(call::proceed) : answer(failure);
            if (returned instanceof Future<?> future) {
                work = future;
                if (isCancelled()) {
                    cancel(future);
                }
            }
            WorkEnd.observe(returned, (value, error) -> end(permits, value, error));
        } catch (Throwable e) {
            end(permits, null, e);
        }
    }

    private @Nullable Object answer(@Nullable Throwable failure) throws Throwable {
        return acquisition.answer(Objects.requireNonNull(failure, "an acquisition ends with permits or a failure"));
    }

    private void end(@Nullable PermitBundle permits, @Nullable Object value, @Nullable Throwable error) {
        if (permits != null) {
            permits.release();
        }
        if (error == null) {
            complete(value);
        } else {
            completeExceptionally(error);
        }
    }

    /** Stages that follow are ordinary futures: cancelling them does not cancel the call. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
