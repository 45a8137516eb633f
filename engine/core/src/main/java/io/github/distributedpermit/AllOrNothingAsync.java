package io.github.distributedpermit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** See {@link AllOrNothing#acquireAsync}: each permit is asked for when the one before it has come. Thread-safe. */
final class AllOrNothingAsync extends CompletableFuture<PermitGroup> {

    private final AllOrNothing requests;
    private final UnaryOperator<Runnable> context;

    /** Changed by one step at a time, each of which happens after the one before. */
    private final List<Permit> taken = new ArrayList<>();

    /** The request under way, or the last one. */
    private volatile @Nullable CompletableFuture<Permit> current;

    private volatile @Nullable Throwable reason;

    private AllOrNothingAsync(AllOrNothing requests, UnaryOperator<Runnable> context) {
        this.requests = requests;
        this.context = context;
    }

    static CompletableFuture<PermitGroup> start(AllOrNothing requests, UnaryOperator<Runnable> context) {
        AllOrNothingAsync call = new AllOrNothingAsync(requests, context);
        call.whenComplete((group, failure) -> call.leaveTheQueue());
        call.guarded(call::takeRest);
        return call;
    }

    /**
     * An error between two steps, such as an exhausted stack, would be swallowed by the stage that runs the step: the permits taken
     * so far would be held for ever, and the future would never end.
     */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** A loop, as permits that are at hand come at once: with recursion many keys would exhaust the stack. */
    private void takeRest() {
        while (!isDone() && taken.size() < requests.size()) {
            CompletableFuture<Permit> next = requests.ask(taken.size());
            current = next;
            if (!next.isDone() || next.isCompletedExceptionally()) {
                boolean furtherOnes = taken.size() + 1 < requests.size();
                Runnable rest = furtherOnes ? context.apply(this::takeRest) : this::takeRest;
                next.whenComplete((permit, failure) -> guarded(() -> ended(permit, failure, rest)));
                if (isDone()) {
                    leaveTheQueue(); // ended before this request was known
                }
                return;
            }
            taken.add(next.join());
        }
        if (isDone() || !complete(new PermitGroup(taken))) {
            giveBack();
        }
    }

    private void ended(@Nullable Permit permit, @Nullable Throwable failure, Runnable rest) {
        if (permit == null) {
            fail(failure == null ? new IllegalStateException("A request ended without a permit") : failure);
        } else {
            taken.add(permit);
            rest.run();
        }
    }

    /** Giving back may cancel the request under way, which then fails as well: the first reason is the one to report. */
    private void fail(Throwable failure) {
        Throwable first = reason;
        if (first == null) {
            reason = failure;
            first = failure;
        }
        try {
            giveBack();
        } finally {
            completeExceptionally(first);
        }
    }

    /** The permit of the request under way may be one that no step has seen. Releasing one again has no effect. */
    private void giveBack() {
        CompletableFuture<Permit> last = current;
        try {
            if (last != null && !last.cancel(false) && !last.isCompletedExceptionally()) {
                last.join().release();
            }
        } finally {
            PermitGroup.releaseAll(taken);
        }
    }

    /** What was taken is given back by the request that is cancelled here, when it ends. */
    private void leaveTheQueue() {
        CompletableFuture<Permit> waiting = current;
        if (waiting != null) {
            waiting.cancel(false);
        }
    }

    /** Stages that follow are ordinary futures: cancelling them does not cancel the call. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
