package io.github.distributedpermit.backend.consul;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Limits how many tasks are under way at a time; the others wait in the order in which they came. Confined to the event loop.
 */
final class RequestLimiter {

    /** How many tasks may be under way. */
    private final int width;
    /** Tasks that wait for their turn. */
    private final Queue<Runnable> queue = new ArrayDeque<>();
    /** Tasks under way. */
    private int inside;
    /** A call further down the stack admits tasks, so that this one leaves that to it. */
    private boolean admitting;

    RequestLimiter(int width) {
        this.width = width;
    }

    /**
     * @param task starts when its turn comes; what it throws, also an {@link Error}, is its result
     * @return ends with the result of the task, after the next task was admitted
     */
    <T> CompletableFuture<T> enter(Supplier<CompletableFuture<T>> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        queue.add(() -> start(task).whenComplete((value, failure) -> {
            inside--;
            try {
                admit();
            } finally {
                if (failure != null) {
                    result.completeExceptionally(failure);
                } else {
                    result.complete(value);
                }
            }
        }));
        admit();
        return result;
    }

    /** A task that throws must not keep its place, nor the result of the task whose end has admitted it. */
    private static <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> task) {
        try {
            return task.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * A task may end at once, or let further ones enter; the queue is worked off in one place, not ever deeper.
     * Without the flag each task that ends at once would admit the next one further down the stack.
     */
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
