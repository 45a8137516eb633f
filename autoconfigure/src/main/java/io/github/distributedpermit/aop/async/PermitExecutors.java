package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.NamedPermits;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Executors whose tasks take a permit each, and wait for it without a thread. */
public final class PermitExecutors {

    private PermitExecutors() {}

    /**
     * An executor that passes each task on when the task has a permit of this name, with the name as its key, and returns the permit
     * when the task has ended. Tasks get their permits in the order in which they were submitted, and run with the thread-local
     * values of the caller if Micrometer's context propagation is on the class path.
     *
     * <p>A task for which there is no permit within the {@code timeout} of the name, which may not wait because {@code max-waiting}
     * others do, or for which the store failed, is not executed: its future ends with that exception, and a warning is logged.
     * {@code execute} throws {@link org.springframework.core.task.TaskRejectedException} if that is known at once; later it cancels a task
     * that is a future.
     * Cancelling the future of a task that waits takes it out of the queue.
     *
     * <p>A task in the queue of the other executor has its permit already. So give that one as many threads as the limit, or
     * virtual ones.
     *
     * @param executor runs the tasks; must not discard any
     * @param permits of which each task takes one
     */
    public static AsyncTaskExecutor limited(Executor executor, NamedPermits permits) {
        RejectedExecutionHandler handler = executor instanceof ThreadPoolTaskExecutor pool
                ? pool.getThreadPoolExecutor().getRejectedExecutionHandler()
                : executor instanceof ThreadPoolExecutor pool ? pool.getRejectedExecutionHandler() : null;
        if (handler instanceof ThreadPoolExecutor.DiscardPolicy
                || handler instanceof ThreadPoolExecutor.DiscardOldestPolicy) {
            throw new IllegalArgumentException(
                    ("An executor that discards tasks cannot be limited by permit '%s': the permits of discarded tasks would never be"
                                    + " returned. Use AbortPolicy in place of %s")
                            .formatted(permits.name(), handler.getClass().getSimpleName()));
        }
        return new LimitedExecutor(executor, permits);
    }
}
