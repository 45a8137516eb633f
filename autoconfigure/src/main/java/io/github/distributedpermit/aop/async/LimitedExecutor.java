package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.AsyncTaskExecutor;

/** See {@link PermitExecutors}. Thread-safe. */
final class LimitedExecutor implements AsyncTaskExecutor {

    private static final Log log = LogFactory.getLog(PermitExecutors.class);

    private final Executor executor;
    private final NamedPermits permits;
    private final ContextCapture contexts = new ContextCapture(List::of);

    LimitedExecutor(Executor executor, NamedPermits permits) {
        this.executor = executor;
        this.permits = permits;
    }

    @Override
    public void execute(Runnable task) {
        start(task, failure -> {});
    }

    @Override
    public <T> CompletableFuture<T> submitCompletable(Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        CompletableFuture<Permit> waiting = start(
                () -> {
                    try {
                        result.complete(task.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                },
                result::completeExceptionally);
        result.whenComplete((value, failure) -> waiting.cancel(false));
        return result;
    }

    @Override
    public CompletableFuture<Void> submitCompletable(Runnable task) {
        return this.<@Nullable Void>submitCompletable(() -> {
            task.run();
            return null;
        });
    }

    @Override
    public Future<?> submit(Runnable task) {
        return submitCompletable(task);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return submitCompletable(task);
    }

    /** @return ends with the permit of the task; cancelling it takes the task out of the queue */
    private CompletableFuture<Permit> start(Runnable task, Consumer<Throwable> failed) {
        CompletableFuture<Permit> waiting = permits.acquireAsync(permits.request(permits.name()));
        Runnable inContext = contexts.capture(task, null);
        waiting.whenComplete((permit, failure) -> {
            if (failure == null) {
                run(inContext, permit, failed);
            } else if (!waiting.isCancelled()) {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
                fail(cause == null ? failure : cause, failed);
            }
        });
        return waiting;
    }

    private void run(Runnable task, Permit permit, Consumer<Throwable> failed) {
        PermitBundle held = new PermitBundle(List.of(permit));
        try {
            executor.execute(() -> {
                try {
                    held.begin(() -> {
                        task.run();
                        return null;
                    });
                } catch (RuntimeException | Error e) {
                    throw e;
                } catch (Throwable e) {
                    throw new IllegalStateException("A Runnable throws no checked exception", e);
                } finally {
                    held.release();
                }
            });
        } catch (RuntimeException | Error e) {
            held.release();
            fail(e, failed);
        }
    }

    private void fail(Throwable failure, Consumer<Throwable> failed) {
        log.warn("A task that waited for permit '%s' was not executed".formatted(permits.name()), failure);
        failed.accept(failure);
    }
}
