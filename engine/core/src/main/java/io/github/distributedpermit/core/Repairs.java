package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that a line is looked at again after an error cut one of its events short: soon by the scheduler, and if that
 * cannot take a task either, by the next call or the next confirmed session. However often a line fails, one task of the
 * scheduler is to look at it, after pauses that double while it goes on failing. Thread-safe.
 */
final class Repairs {

    private static final System.Logger LOG = System.getLogger(Repairs.class.getName());

    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);
    /** The pause doubles so often: to about three seconds. */
    private static final int DOUBLINGS = 5;

    private static final long BETWEEN_LOGS = TimeUnit.SECONDS.toNanos(1);

    private final Lines lines;
    private final Scheduler scheduler;
    private volatile @Nullable Throwable cause;
    private volatile long loggedAt = -BETWEEN_LOGS;
    /** Whether the scheduler could not take a task. */
    private volatile boolean neglected;

    Repairs(Lines lines, Scheduler scheduler) {
        this.lines = lines;
        this.scheduler = scheduler;
    }

    /** Throws nothing: its caller may have no stack or heap left. */
    void trouble(KeyLine line, Throwable error) {
        cause = error;
        try {
            StackRoom.check();
            if (!line.repairPending.compareAndSet(false, true)) {
                return; // a line that fails tells of it more than once
            }
            try {
                scheduler.schedule(() -> repair(line), SOON << Math.min(line.repairs, DOUBLINGS));
            } catch (Throwable e) {
                line.repairPending.set(false);
                neglected = true;
            }
        } catch (Throwable e) {
            neglected = true; // the next call repairs
        }
    }

    private void repair(KeyLine line) {
        line.repairPending.set(false); // first, so that what fails from here on is repaired again
        int before = line.repairs;
        line.repairs = before + 1;
        try {
            line.check();
            if (!line.repairPending.get()) {
                line.repairs = 0;
            }
        } catch (RuntimeException | Error e) {
            trouble(line, e); // it may have come before the line could tell of it
        }
        log();
    }

    /** Looks at all lines if the scheduler could not take the task of one. */
    void repair() {
        if (neglected) {
            neglected = false;
            lines.each(KeyLine::check);
            log();
        }
    }

    /** Last, and throws nothing: that a log fails, too, must not keep a line from being looked at. */
    private void log() {
        try {
            Throwable error = cause;
            long now = lines.now();
            if (error == null || now - loggedAt < BETWEEN_LOGS) {
                return;
            }
            cause = null;
            loggedAt = now;
            LOG.log(
                    System.Logger.Level.ERROR,
                    "An error cut the handling of a permit short; counts are restored from what calls hold and the store"
                            + " is asked again",
                    error);
        } catch (Throwable e) {
            // the lines matter more
        }
    }
}
