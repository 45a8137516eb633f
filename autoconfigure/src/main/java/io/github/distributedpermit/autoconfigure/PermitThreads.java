package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.spi.TimeSource;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of the library, all of them daemons: two for timers, one for the end of the shutdown, and for what users run
 * in two pools apart, one for listeners to the loss of permits and one for what follows from asynchronous calls, unless
 * that has an executor of the application. Threads of both pools end when idle. Not beans of their own, as Boot would take
 * them for the application's executors.
 */
final class PermitThreads implements AutoCloseable {

    private static final int TIMER_THREADS = 2;
    /** So many listeners may take their time before another one has to wait for them. */
    private static final int LISTENER_THREADS = 64;

    private static final long IDLE_SECONDS = 10;

    private final ScheduledThreadPoolExecutor timers =
            new ScheduledThreadPoolExecutor(TIMER_THREADS, daemons("distributed-permit-timer-"));
    private final ThreadPoolExecutor notices = new ThreadPoolExecutor(
            LISTENER_THREADS,
            LISTENER_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons("distributed-permit-loss-"));
    private final ContinuationPool callbacks = new ContinuationPool(daemons("distributed-permit-callback-"), timers);

    private final ThreadFactory leaving = daemons("distributed-permit-shutdown-");
    private final @Nullable Executor ofApplication;

    /** Continuations run on this executor, or on a pool of the library if there is none or it does not run them. */
    PermitThreads(@Nullable Executor ofApplication) {
        this.ofApplication = ofApplication;
        // most timers are cancelled, by the answer that was awaited
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timers.prestartAllCoreThreads();
        notices.allowCoreThreadTimeOut(true);
    }

    /** Schedules on threads of the library, or on the time of a test. */
    Scheduler scheduler(@Nullable TimeSource replaced) {
        if (replaced != null) {
            return (task, delayNanos) -> {
                Runnable cancel = replaced.schedule(task, delayNanos);
                return cancel::run;
            };
        }
        return (task, delayNanos) -> {
            Future<?> scheduled = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        };
    }

    /**
     * For what users let follow from asynchronous calls. Continuations that block all threads of the application's executor
     * delay the others by up to a second; an executor of their own, the bean {@code distributedPermitExecutor}, avoids that.
     */
    Executor continuations() {
        return ofApplication == null ? callbacks : new ContinuationExecutor(ofApplication, callbacks, timers);
    }

    /** For listeners to the loss of permits. */
    Executor notices() {
        return notices;
    }

    /** For the end of the shutdown: a thread for it alone. */
    Executor leaving() {
        return task -> leaving.newThread(task).start();
    }

    @Override
    public void close() {
        timers.shutdownNow();
        // what was promised to users still runs
        notices.shutdown();
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
