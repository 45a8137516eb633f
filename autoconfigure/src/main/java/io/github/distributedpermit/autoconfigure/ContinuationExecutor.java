package io.github.distributedpermit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs what continues an asynchronous call on the application's executor, or on a thread of the library if that executor
 * does not take the task or does not begin it within a second. Each task runs once. Thread-safe.
 *
 * <p>A task may carry a granted permit, which stays in use until the task has run. An executor may never run it: all its threads
 * wait for calls whose continuations are queued behind them (tasks that block on a limited method's future, for example), its
 * policy discards tasks silently, or what a {@code TaskDecorator} puts around them throws.
 */
final class ContinuationExecutor implements Executor {

    private static final long PATIENCE_MILLIS = 1000;

    private static final Log log = LogFactory.getLog(ContinuationExecutor.class);
    private static final long WARNING_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Executor ofApplication;
    private final Executor library;
    private final ScheduledExecutorService timers;
    private final AtomicLong nextWarning = new AtomicLong(System.nanoTime());

    /**
     * @param ofApplication runs tasks
     * @param library passes tasks to it, and runs those that it does not run. Its tasks may wait for each other
     * @param timers its threads are not held up
     */
    ContinuationExecutor(Executor ofApplication, Executor library, ScheduledExecutorService timers) {
        this.ofApplication = ofApplication;
        this.library = library;
        this.timers = timers;
    }

    /**
     * Passes the task on from a thread of the library: an executor that runs tasks on the calling thread, or makes that wait,
     * would hold up the store's client or the timers, which call this.
     */
    @Override
    public void execute(Runnable task) {
        Once once = new Once(task);
        try {
            library.execute(() -> passOn(once));
        } catch (RejectedExecutionException e) {
            ofApplication.execute(once); // after the end of this library
        } catch (OutOfMemoryError e) {
            passOn(once); // there is no thread for it, but the executor may have one
        }
    }

    private void passOn(Once task) {
        try {
            checkLater(task);
            ofApplication.execute(task);
        } catch (RuntimeException | Error e) {
            task.run(); // it is full, shut down or gets no thread, or there is no memory
        }
    }

    private void checkLater(Once task) {
        try {
            task.limit = timers.schedule(() -> runLate(task), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // the library has ended, and the application's executor soon ends as well
        }
    }

    private void runLate(Once task) {
        if (task.hasBegun()) {
            return;
        }
        warn();
        try {
            library.execute(task);
        } catch (RejectedExecutionException e) {
            task.run(); // after the end of this library
        } catch (OutOfMemoryError e) {
            checkLater(task); // there is no thread now, and the timers run no users' code
        }
    }

    private void warn() {
        long now = System.nanoTime();
        long next = nextWarning.get();
        if (now - next >= 0 && nextWarning.compareAndSet(next, now + WARNING_NANOS)) {
            log.warn("The application's executor has not begun the continuation of a call for a permit within "
                    + PATIENCE_MILLIS
                    + " ms: its threads are busy, or it discards tasks. It runs on a thread of the library"
                    + " instead, so that its permit is not lost. If tasks of that executor wait for permits, define a bean"
                    + " distributedPermitExecutor for continuations, or switch on spring.threads.virtual.enabled");
        }
    }

    private static final class Once implements Runnable {

        private final AtomicReference<@Nullable Runnable> task;
        /** Written before the application's executor knows the task, and again if no thread could be made. */
        private volatile @Nullable Future<?> limit;

        Once(Runnable task) {
            this.task = new AtomicReference<>(task);
        }

        boolean hasBegun() {
            return task.get() == null;
        }

        @Override
        public void run() {
            Runnable due = task.getAndSet(null);
            if (due != null) {
                Future<?> pending = limit;
                if (pending != null) {
                    pending.cancel(false);
                }
                due.run();
            }
        }
    }
}
