package io.github.distributedpermit.aop.async;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Observes the end of a future. A stage notifies by itself. A plain {@link Future} can't, so it is looked at again after
 * pauses that double from 1 to 64 ms, on the JDK's thread for delayed executions; no thread waits for it. That thread runs
 * the timers of the whole process, so what follows the end has threads of its own, daemons that end when they are idle: with
 * {@code release=sync} a release waits for the store, and the future of the caller may have dependents.
 */
final class WorkEnd {

    private static final int LONGEST_PAUSE = 64;
    private static final long IDLE_SECONDS = 10;

    /** Without a queue, so that an end that waits delays no other. */
    private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), WorkEnd::daemon);

    private WorkEnd() {}

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "distributed-permit-future-end");
        thread.setDaemon(true);
        return thread;
    }

    /** Calls {@code then} once, with the value or the error. A value that is no future has ended. */
    static void observe(@Nullable Object returned, BiConsumer<@Nullable Object, @Nullable Throwable> then) {
        if (returned instanceof CompletionStage<?> stage) {
            stage.whenComplete(then);
        } else if (returned instanceof Future<?> future) {
            poll(future, then, Runnable::run, 1);
        } else {
            then.accept(returned, null);
        }
    }

    private static void poll(
            Future<?> future, BiConsumer<@Nullable Object, @Nullable Throwable> then, Executor following, int pause) {
        boolean done;
        try {
            done = future.isDone();
        } catch (RuntimeException | Error e) {
            // nothing would look at it again, and the permit would never be released
            following.execute(() -> then.accept(null, e));
            return;
        }
        if (done) {
            following.execute(() -> end(future, then));
            return;
        }
        Executor later = CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS, Runnable::run);
        later.execute(() -> poll(future, then, WorkEnd::runApart, Math.min(LONGEST_PAUSE, pause * 2)));
    }

    private static void runApart(Runnable task) {
        try {
            THREADS.execute(task);
        } catch (OutOfMemoryError e) {
            task.run(); // there is no thread
        }
    }

    private static void end(Future<?> done, BiConsumer<@Nullable Object, @Nullable Throwable> then) {
        Object value = null;
        Throwable error = null;
        try {
            value = done.get();
        } catch (ExecutionException e) {
            error = e.getCause() == null ? e : e.getCause();
        } catch (CancellationException e) {
            error = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            error = e;
        } catch (RuntimeException | Error e) {
            error = e; // a future of the application may throw anything; the permit is released all the same
        }
        then.accept(value, error);
    }
}
