package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Scheduler;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The library's few daemon threads: one or two for timers, and up to four for callbacks of users, which end when idle.
 * Not beans of their own, as Boot would take them for the application's executors.
 */
final class PermitThreads implements AutoCloseable {

    private static final int TIMER_THREADS = 2;
    private static final int CALLBACK_THREADS = 4;
    private static final long IDLE_SECONDS = 10;

    private final ScheduledThreadPoolExecutor timers =
            new ScheduledThreadPoolExecutor(TIMER_THREADS, daemons("distributed-permit-timer-"));
    private final ThreadPoolExecutor callbacks = new ThreadPoolExecutor(
            CALLBACK_THREADS,
            CALLBACK_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons("distributed-permit-callback-"));

    PermitThreads() {
        // most timers are cancelled, by the answer that was awaited
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        callbacks.allowCoreThreadTimeOut(true);
    }

    Scheduler scheduler() {
        return (task, delayNanos) -> {
            Future<?> scheduled = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        };
    }

    Executor callbacks() {
        return callbacks;
    }

    @Override
    public void close() {
        timers.shutdownNow();
        // what was promised to users still runs
        callbacks.shutdown();
    }

    private static ThreadFactory daemons(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, prefix + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
