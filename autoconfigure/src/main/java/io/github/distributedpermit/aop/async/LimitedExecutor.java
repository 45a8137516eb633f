package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import java.lang.ref.Cleaner;
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
import org.springframework.context.Lifecycle;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;

/** See {@link PermitExecutors}. Thread-safe. */
final class LimitedExecutor implements AsyncTaskExecutor {

    private static final Log log = LogFactory.getLog(PermitExecutors.class);

    private static final Cleaner CLEANER = Cleaner.create();

    private final Executor executor;
    private final NamedPermits permits;
    private final ContextCapture contexts = new ContextCapture(List::of);

    LimitedExecutor(Executor executor, NamedPermits permits) {
        this.executor = executor;
        this.permits = permits;
    }

    /** Without a future, a task that is rejected at once is rejected here, as by any executor. One that is a future itself is cancelled later. */
    @Override
    public void execute(Runnable task) {
        Runnable inContext = contexts.capture(task, null); // first: it runs code of the application, which may throw
        CompletableFuture<Permit> executed = whenPermitted(ask(), inContext, failure -> {
            if (task instanceof Future<?> future) {
                future.cancel(false);
            }
        });
        try {
            executed.getNow(null);
        } catch (CompletionException e) {
            throw new TaskRejectedException(
                    "The executor with permit '%s' did not accept the task".formatted(permits.name()), e);
        }
    }

    @Override
    public <T> CompletableFuture<T> submitCompletable(Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable inContext = contexts.capture(() -> complete(result, task), null);
        CompletableFuture<Permit> waiting = ask();
        whenPermitted(waiting, inContext, result::completeExceptionally);
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

    /** It may have been cancelled while it waited for a thread. */
    private static <T> void complete(CompletableFuture<T> result, Callable<T> task) {
        if (result.isDone()) {
            return;
        }
        try {
            result.complete(task.call());
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    /** @return ends with the permit of a task; cancelling it takes the task out of the queue */
    private CompletableFuture<Permit> ask() {
        return permits.acquireAsync(permits.request(permits.name()));
    }

    /** @return fails if the task got no permit, or if the executor rejected it */
    private CompletableFuture<Permit> whenPermitted(
            CompletableFuture<Permit> waiting, Runnable task, Consumer<Throwable> failed) {
        return waiting.whenComplete((permit, failure) -> {
            if (failure == null) {
                run(task, permit, failed);
            } else if (!waiting.isCancelled()) {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
                fail(cause == null ? failure : cause, failed);
            }
        });
    }

    private void run(Runnable task, Permit permit, Consumer<Throwable> failed) {
        End end = new End(new PermitBundle(PermitContext.levels(permit)), failure -> fail(failure, failed));
        try {
            if (executor instanceof Lifecycle lifecycle
                    && !lifecycle.isRunning()) { // it would keep the task, and the permit
                throw new TaskRejectedException("The executor has been stopped");
            }
            executor.execute(new Handed(task, end, failed));
        } catch (RuntimeException | Error e) {
            if (end.begun) { // on this thread
                log.warn("A task with permit '%s' threw an exception".formatted(permits.name()), e);
                return;
            }
            end.by(e);
            throw e;
        }
    }

    private void fail(Throwable failure, Consumer<Throwable> failed) {
        log.warn("A task that waited for permit '%s' was not executed".formatted(permits.name()), failure);
        failed.accept(failure);
    }

    /** A task that the executor has. One that it drops, as at its shutdown, ends when the garbage collector finds out. */
    private static final class Handed implements Runnable {

        private final Runnable task;
        private final End end;
        private final Consumer<Throwable> failed;
        private final Cleaner.Cleanable cleanable;

        Handed(Runnable task, End end, Consumer<Throwable> failed) {
            this.task = task;
            this.end = end;
            this.failed = failed;
            this.cleanable = CLEANER.register(this, end);
        }

        @Override
        public void run() {
            end.begun = true;
            try {
                end.held.begin(() -> {
                    task.run();
                    return null;
                });
            } catch (RuntimeException | Error e) {
                failed.accept(e); // has no effect if the task ended with it
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("A Runnable throws no checked exception", e);
            } finally {
                cleanable.clean();
            }
        }
    }

    /** Returns the permit of a task, without a reference to it. */
    private static final class End implements Runnable {

        private final PermitBundle held;
        private final Consumer<Throwable> failed;
        private volatile boolean begun;

        End(PermitBundle held, Consumer<Throwable> failed) {
            this.held = held;
            this.failed = failed;
        }

        @Override
        public void run() {
            held.release();
            if (!begun) {
                failed.accept(new TaskRejectedException("The executor has dropped the task"));
            }
        }

        void by(Throwable failure) {
            begun = true;
            held.release();
            failed.accept(failure);
        }
    }
}
