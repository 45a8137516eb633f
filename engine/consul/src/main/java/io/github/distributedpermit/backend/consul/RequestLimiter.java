package io.github.distributedpermit.backend.consul;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Lets so many tasks be under way at a time; the others wait for their turn. Confined to the loop. */
final class RequestLimiter {

    private final int width;
    private final Queue<Runnable> queue = new ArrayDeque<>();
    private int inside;
    private boolean admitting;

    RequestLimiter(int width) {
        this.width = width;
    }

    /** @param task starts when its turn comes; must not throw */
    <T> CompletableFuture<T> enter(Supplier<CompletableFuture<T>> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        queue.add(() -> task.get().whenComplete((value, failure) -> {
            inside--;
            admit();
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                result.complete(value);
            }
        }));
        admit();
        return result;
    }

    /** A task may end at once, or let further ones enter; the queue is worked off in one place, not ever deeper. */
    private void admit() {
        if (admitting) {
            return;
        }
        admitting = true;
        try {
            while (inside < width && !queue.isEmpty()) {
                inside++;
                queue.remove().run();
            }
        } finally {
            admitting = false;
        }
    }
}
