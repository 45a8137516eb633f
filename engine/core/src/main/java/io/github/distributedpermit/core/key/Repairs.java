package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Has a queue looked at again after an error cut one of its events short: soon, by a task of the scheduler, and if the
 * scheduler cannot take a task either, by the next call or the next confirmed session. However often a queue fails, there is
 * one task for it at a time, after pauses that double while it goes on failing. Thread-safe; its caller may have no stack or
 * heap left.
 */
public final class Repairs {

    private static final System.Logger LOG = System.getLogger(Repairs.class.getName());

    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);

    /** The pause doubles at most so often: to about three seconds. */
    private static final int DOUBLINGS = 5;

    private static final long BETWEEN_LOGS = TimeUnit.SECONDS.toNanos(1);

    private final Scheduler scheduler;
    private final LongSupplier clock;
    private final Runnable checkAll;
    private volatile @Nullable Throwable cause;
    private volatile long loggedAt = -BETWEEN_LOGS;
    /** Whether the scheduler could not take a task, so that the next call has to look at all queues. */
    private volatile boolean neglected;

    /**
     * Repairs of the queues of one registry.
     *
     * @param clock the time of the process
     * @param checkAll looks at all queues
     */
    public Repairs(Scheduler scheduler, LongSupplier clock, Runnable checkAll) {
        this.scheduler = scheduler;
        this.clock = clock;
        this.checkAll = checkAll;
    }

    /**
     * An event of the queue was cut short. The caller may have no stack or heap left.
     *
     * @return whether a task will look at the queue; otherwise the next call has to
     */
    public boolean trouble(KeyQueue queue, Throwable error) {
        cause = error;
        try {
            StackRoom.check();
            if (!queue.repairPending.compareAndSet(false, true)) {
                return true; // one failure may be reported more than once
            }
            try {
                scheduler.schedule(() -> repair(queue), SOON << Math.min(queue.repairs, DOUBLINGS));
                return true;
            } catch (Throwable e) {
                neglected = true;
                queue.repairPending.set(false);
            }
        } catch (Throwable e) {
            neglected = true; // the next call repairs
        }
        return false;
    }

    private void repair(KeyQueue queue) {
        queue.repairPending.set(false); // first, so that what fails from here on is repaired again
        int before = queue.repairs;
        queue.repairs = before + 1;
        try {
            queue.check();
            if (!queue.repairPending.get()) {
                queue.repairs = 0;
            }
        } catch (RuntimeException | Error e) {
            trouble(queue, e); // the queue may have had no room to report it itself
        }
        log();
    }

    /** Looks at all queues if the scheduler could not take the task for one of them. */
    public void repair() {
        if (neglected) {
            neglected = false;
            try {
                checkAll.run();
            } catch (Throwable e) {
                neglected = true; // this call has no room either
                throw e;
            }
            log();
        }
    }

    /** Comes last and throws nothing: a log that fails as well must not keep a queue from being looked at. */
    private void log() {
        try {
            Throwable error = cause;
            long now = clock.getAsLong();
            if (error == null || now - loggedAt < BETWEEN_LOGS) {
                return;
            }
            cause = null;
            loggedAt = now;
            LOG.log(
                    System.Logger.Level.ERROR,
                    "An error interrupted the handling of a key; its counts are restored from the permits that calls"
                            + " hold, and the store is asked again",
                    error);
        } catch (Throwable e) {
            // the queues matter more than the log
        }
    }
}
