package io.github.distributedpermit.backend.consul;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The one thread of a member. All of the member's state is confined to it, so that a loss, a grant and an answer are
 * processed in the order in which they arrive, and no class that runs here needs a lock. Nothing that runs here blocks. A task that
 * throws is logged and does not stop the loop. Thread-safe.
 */
final class EventLoop implements Executor {

    private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

    private final ScheduledThreadPoolExecutor thread;
    private final LongSupplier ticker;

    EventLoop(String name, LongSupplier ticker) {
        this.ticker = ticker;
        thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread t = new Thread(task, name);
            t.setDaemon(true);
            return t;
        });
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** The monotonic clock in nanoseconds. */
    long now() {
        return ticker.getAsLong();
    }

    /** Runs a task on the thread; drops it if the loop has ended. */
    @Override
    public void execute(Runnable task) {
        try {
            thread.execute(guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.log(System.Logger.Level.TRACE, "The member has left", e);
        }
    }

    /** Runs a task on the thread; {@code false} if the loop has ended. */
    boolean offer(Runnable task) {
        try {
            thread.execute(guarded(task));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Runs a task later. */
    Future<?> later(Runnable task, long nanos) {
        return thread.schedule(guarded(task), nanos, TimeUnit.NANOSECONDS);
    }

    /** Ends after a while. */
    CompletableFuture<Void> pause(long nanos) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        later(() -> over.complete(null), nanos);
        return over;
    }

    /** The thread, for those who share it. */
    ScheduledExecutorService scheduler() {
        return thread;
    }

    /** What is running comes to its end, nothing follows. */
    void end() {
        thread.shutdown();
    }

    /** Logs what a task throws: nothing waits for the result of most of them. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RejectedExecutionException e) {
                LOG.log(System.Logger.Level.TRACE, "The member has left", e);
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.ERROR, "A task of the Consul backend failed", e);
            }
        };
    }
}
