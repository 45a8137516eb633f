package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Takes the permits of one call one after the other, without blocking a thread. It ends with all of them, which then
 * belong to whoever started it, or with the first failure. Cancelling it leaves the queue and releases what it has taken.
 * Thread-safe.
 */
public final class Acquisition extends CompletableFuture<PermitBundle> {

    private final List<? extends Step> steps;
    private final PermitBundle taken = new PermitBundle();
    private volatile @Nullable CompletableFuture<Permit> current;
    private volatile int step;

    private Acquisition(List<? extends Step> steps) {
        this.steps = steps;
    }

    /**
     * Begins.
     *
     * @param steps one for each permit
     */
    public static Acquisition start(List<? extends Step> steps) {
        Acquisition acquisition = new Acquisition(steps);
        acquisition.takeNext(0);
        return acquisition;
    }

    /** One that could not begin. */
    public static Acquisition failed(Throwable failure) {
        Acquisition acquisition = new Acquisition(List.of());
        acquisition.completeExceptionally(failure);
        return acquisition;
    }

    /**
     * Answers the call after a failure.
     *
     * @return what the fallback of the step returned that failed
     * @throws Throwable the failure itself if no fallback answers it, or what the fallback threw
     */
    @Nullable
    Object answer(Throwable failure) throws Throwable {
        if (steps.isEmpty()) {
            throw failure;
        }
        return steps.get(step).answer(failure);
    }

    /** Takes one permit. */
    public interface Step {

        /** Begins to acquire it. */
        CompletableFuture<Permit> begin();

        /** What is held and released in its place. */
        Permit held(Permit permit);

        /**
         * Answers the call if this permit could not be taken.
         *
         * @throws Throwable the failure if it has no answer
         */
        @Nullable
        Object answer(Throwable failure) throws Throwable;
    }

    private void takeNext(int first) {
        for (int i = first; i < steps.size(); i++) {
            step = i;
            CompletableFuture<Permit> call;
            try {
                call = steps.get(i).begin();
            } catch (RuntimeException | Error e) {
                fail(e);
                return;
            }
            if (!call.isDone() || call.isCompletedExceptionally()) {
                current = call;
                Step waiting = steps.get(i);
                Runnable following = following(i + 1);
                call.whenComplete((permit, failure) -> ended(waiting, permit, failure, following));
                if (isDone()) {
                    call.cancel(false); // cancelled before this call was known
                }
                return;
            }
            if (!taken.add(steps.get(i).held(call.join()))) {
                return; // cancelled
            }
        }
        if (!complete(taken)) {
            taken.release();
        }
    }

    /** Takes the rest in the context of this thread, since the wait may end on a thread that has none. */
    private Runnable following(int next) {
        Runnable following = () -> takeNext(next);
        return next < steps.size() ? ContextCapture.ofThread(following) : following;
    }

    private void ended(Step waited, @Nullable Permit permit, @Nullable Throwable failure, Runnable following) {
        if (failure != null) {
            fail(failure);
        } else if (permit != null && taken.add(waited.held(permit))) {
            following.run();
        }
    }

    private void fail(Throwable failure) {
        taken.release();
        completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        // after a completion with permits they belong to whoever started this
        if (isCancelled()) {
            taken.release();
            CompletableFuture<Permit> waiting = current;
            if (waiting != null) {
                waiting.cancel(false);
            }
        }
        return cancelled;
    }

    /** Stages that follow are ordinary futures: cancelling them does not cancel the acquisition. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
