package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Takes the permits of one call one after the other, without blocking a thread. It ends with all of them, which then
 * belong to whoever started it, or with the first failure. Cancelling it leaves the queue and releases what it has taken.
 * Thread-safe.
 */
public final class Acquisition extends CompletableFuture<PermitBundle> {

    private final List<Step> steps;
    private final PermitBundle taken = new PermitBundle();
    private volatile @Nullable CompletableFuture<Permit> current;
    private volatile int step;

    private Acquisition(List<Step> steps) {
        this.steps = steps;
    }

    /**
     * Begins.
     *
     * @param steps one for each permit
     */
    public static Acquisition start(List<Step> steps) {
        Acquisition acquisition = new Acquisition(steps);
        acquisition.takeNext(0);
        return acquisition;
    }

    /** The index of the step that was the last to begin; the one that failed, after a failure. */
    public int step() {
        return step;
    }

    /**
     * Takes one permit.
     *
     * @param begin begins to acquire it
     * @param held what is held and released in its place
     */
    public record Step(Supplier<CompletableFuture<Permit>> begin, UnaryOperator<Permit> held) {}

    private void takeNext(int first) {
        for (int i = first; i < steps.size(); i++) {
            step = i;
            CompletableFuture<Permit> call;
            try {
                call = steps.get(i).begin().get();
            } catch (RuntimeException | Error e) {
                fail(e);
                return;
            }
            if (!call.isDone() || call.isCompletedExceptionally()) {
                current = call;
                int following = i + 1;
                call.whenComplete((permit, failure) -> ended(permit, failure, following));
                if (isDone()) {
                    call.cancel(false); // cancelled before this call was known
                }
                return;
            }
            if (!taken.add(steps.get(i).held().apply(call.join()))) {
                return; // cancelled
            }
        }
        if (!complete(taken)) {
            taken.release();
        }
    }

    private void ended(@Nullable Permit permit, @Nullable Throwable failure, int following) {
        if (failure != null) {
            fail(failure);
        } else if (permit != null && taken.add(steps.get(following - 1).held().apply(permit))) {
            takeNext(following);
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
