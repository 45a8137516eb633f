package io.github.distributedpermit.aop.async;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * What the caller of a limited method gets: ends as the future of the method does, after the permits were released. If its
 * caller ends it before, a waiting call leaves the queue; the permits of one that runs are held until the future of the method has
 * ended. Cancelling it cancels that future too if this may stop the work, see {@link Cancellation}. Thread-safe.
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
        acquisition.cancel();
        Future<?> running = work;
        if (running != null && isCancelled()) {
            Cancellation.cancel(running);
        }
    }

    /** Overridden to show that a cancellation ends a waiting call: another limited method may return this future. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return super.cancel(mayInterruptIfRunning);
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
                    Cancellation.cancel(future);
                }
            }
            WorkEnd.observe(returned, (value, error) -> end(permits, value, error));
        } catch (Throwable e) {
            end(permits, null, e);
        }
    }

    private @Nullable Object answer(@Nullable Throwable failure) throws Throwable {
        return acquisition
                .fallback()
                .to(Objects.requireNonNull(failure, "an acquisition ends with permits or a failure"));
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
