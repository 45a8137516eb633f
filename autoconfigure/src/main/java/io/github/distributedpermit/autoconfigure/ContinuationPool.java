package io.github.distributedpermit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A pool for tasks that may wait for each other. It has a bound as long as tasks end: a burst of thousands needs no thousands of
 * threads. If tasks are queued and none has ended for a second, those that run may wait for those that are queued, such as calls
 * for a permit that wait for another one in their continuation. Then the pool doubles, up to 2,048 threads. Thread-safe.
 */
final class ContinuationPool implements Executor {

    private static final int THREADS = 64;
    /** Tasks that only wait for something slow look the same, and must not take all threads of the machine. */
    private static final int MOST = 2048;

    private static final long IDLE_SECONDS = 10;
    private static final long PATIENCE_MILLIS = 1000;

    private final ThreadPoolExecutor pool;
    private final ScheduledExecutorService timers;
    private final AtomicBoolean watching = new AtomicBoolean();

    /** @param timers its threads are not held up */
    ContinuationPool(ThreadFactory threads, ScheduledExecutorService timers) {
        this.timers = timers;
        pool = new ThreadPoolExecutor(
                THREADS, MOST, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        pool.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
        watchIfQueued();
    }

    private void watchIfQueued() {
        if (!pool.getQueue().isEmpty() && watching.compareAndSet(false, true)) {
            lookLater();
        }
    }

    private void lookLater() {
        long ended = pool.getCompletedTaskCount();
        try {
            timers.schedule(() -> look(ended), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            watching.set(false); // the library has ended, and waits no longer
        } catch (RuntimeException | Error e) {
            watching.set(false); // the next task tries again
            throw e;
        }
    }

    private void look(long before) {
        if (pool.getQueue().isEmpty()) {
            pool.setCorePoolSize(THREADS);
            watching.set(false);
            watchIfQueued(); // a task may have come before the flag was lowered
            return;
        }
        try {
            if (pool.getCompletedTaskCount() == before) {
                pool.setCorePoolSize(Math.min(MOST, 2 * pool.getCorePoolSize())); // begins as many of those queued
            }
        } catch (OutOfMemoryError e) {
            // there is no room for more threads now
        }
        lookLater();
    }

    /** What was promised still runs. */
    void shutdown() {
        pool.shutdown();
    }
}
