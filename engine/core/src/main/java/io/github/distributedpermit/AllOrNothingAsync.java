package io.github.distributedpermit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The same as {@link AllOrNothing} without a thread that waits: each permit is asked for when the one before it has come. Cancelling
 * it leaves the queue and gives back what it has. Thread-safe.
 */
final class AllOrNothingAsync extends CompletableFuture<PermitGroup> {

    private final RequestsInOrder requests;

    /** Changed by one step at a time, each of which happens after the one before. */
    private final List<Permit> taken = new ArrayList<>();

    private volatile @Nullable CompletableFuture<Permit> current;

    private AllOrNothingAsync(RequestsInOrder requests) {
        this.requests = requests;
    }

    static CompletableFuture<PermitGroup> acquire(Permits permits, Collection<PermitRequest> requests) {
        AllOrNothingAsync call = new AllOrNothingAsync(new RequestsInOrder(permits, requests));
        call.takeRest();
        return call;
    }

    /** A loop, as permits that are at hand come at once: with recursion many keys would exhaust the stack. */
    private void takeRest() {
        while (!isDone() && taken.size() < requests.size()) {
            CompletableFuture<Permit> next;
            try {
                int index = taken.size();
                next = requests.named(index).acquireAsync(requests.request(index));
            } catch (RuntimeException | Error e) {
                fail(e);
                return;
            }
            if (!next.isDone() || next.isCompletedExceptionally()) {
                current = next;
                next.whenComplete(this::ended);
                if (isDone()) {
                    next.cancel(false); // cancelled before this request was known
                }
                return;
            }
            taken.add(next.join());
        }
        if (isDone() || !complete(new PermitGroup(taken))) {
            giveBack();
        }
    }

    private void ended(@Nullable Permit permit, @Nullable Throwable failure) {
        if (permit == null) {
            fail(failure == null ? new IllegalStateException("A request ended without a permit") : failure);
        } else {
            taken.add(permit);
            takeRest();
        }
    }

    private void fail(Throwable failure) {
        giveBack();
        completeExceptionally(failure);
    }

    private void giveBack() {
        for (int i = taken.size() - 1; i >= 0; i--) {
            taken.get(i).release();
        }
    }

    /** What was taken is given back by the request that is cancelled here, when it ends. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        CompletableFuture<Permit> waiting = current;
        if (isCancelled() && waiting != null) {
            waiting.cancel(false);
        }
        return cancelled;
    }

    /** Stages that follow are ordinary futures: cancelling them does not cancel the call. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
