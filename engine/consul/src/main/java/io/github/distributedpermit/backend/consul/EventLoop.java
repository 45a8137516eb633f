package io.github.distributedpermit.backend.consul;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The one thread of a member. All of the member's state is confined to it, so that a loss, a grant and an answer are
 * processed in the order in which they arrive, and no class that runs here needs a lock. Nothing that runs here blocks. A task that
 * throws is logged and does not stop the loop. Thread-safe.
 *
 * <p>A task that arrives after {@link #end} is dropped, so that a future which only such a task would complete stays open.
 * Only a test extends this class.
 */
class EventLoop implements Executor {

    private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

    /** A daemon thread, so that it does not keep the process alive. */
    private final ScheduledThreadPoolExecutor thread;

    private final LongSupplier ticker;

    EventLoop(String name, LongSupplier ticker) {
        this.ticker = ticker;
        thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread t = new Thread(task, name);
            t.setDaemon(true);
            return t;
        });
        // A cancelled time-out would otherwise stay in the queue, with all that it refers to, until it is due.
        thread.setRemoveOnCancelPolicy(true);
        // Periodic checks and pauses end with the member.
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** The monotonic clock in nanoseconds. The only clock of this backend. */
    long now() {
        return ticker.getAsLong();
    }

    /** Runs a task on the thread; drops it if the loop has ended. */
    @Override
    public void execute(Runnable task) {
        boolean unused = offer(task);
    }

    /**
     * Runs a task on the thread; {@code false} if the loop has ended. For callers outside the loop that have to
     * answer if the member has left.
     */
    boolean offer(Runnable task) {
        try {
            thread.execute(guarded(task));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * Runs a task later. Throws {@link RejectedExecutionException} if the loop has ended, which {@link #guarded}
     * ignores in the tasks of the loop.
     */
    Future<?> later(Runnable task, long nanos) {
        return thread.schedule(guarded(task), nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Ends after a while.
     *
     * @return ends on the loop; never, if the loop ends before
     */
    CompletableFuture<Void> pause(long nanos) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        later(() -> over.complete(null), nanos);
        return over;
    }

    /** The thread, for those who share it. */
    ScheduledExecutorService scheduler() {
        return thread;
    }

    /** What is running comes to its end, nothing follows. Returns at once. Tasks that were to run later are dropped. */
    void end() {
        thread.shutdown();
    }

    /** Logs what a task throws: nothing waits for the result of most of them. */
    private static Runnable guarded(Runnable task) {
        return () -> run(task);
    }

    /** Runs a task, or a part of one, so that what comes after it runs in any case. Logs what it throws. */
    static void run(Runnable part) {
        run(part, failure -> {});
    }

    /**
     * Runs a part of a task that something has to follow, such as a repetition. A stage of a {@link CompletableFuture}
     * would swallow what the part throws.
     *
     * @param otherwise receives what the part throws, also an {@link Error}, after it was logged
     */
    static void run(Runnable part, Consumer<Throwable> otherwise) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            log(e);
            otherwise.accept(e);
        }
    }

    private static void log(Throwable failure) {
        try {
            if (failure instanceof RejectedExecutionException) {
                LOG.log(System.Logger.Level.TRACE, "The member has left", failure);
            } else {
                LOG.log(System.Logger.Level.ERROR, "A task of the Consul backend failed", failure);
            }
        } catch (RuntimeException | Error withoutLog) {
            // such as a full stack
        }
    }
}
