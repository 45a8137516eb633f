package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that a line is looked at again after an error cut one of its events short: soon by the scheduler, and if that
 * cannot take a task either, by the next call or the next confirmed session. Thread-safe.
 */
final class Repairs {

    private static final System.Logger LOG = System.getLogger(Repairs.class.getName());

    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);

    private final Lines lines;
    private final Scheduler scheduler;
    private volatile @Nullable Throwable cause;

    Repairs(Lines lines, Scheduler scheduler) {
        this.lines = lines;
        this.scheduler = scheduler;
    }

    /** Throws nothing: its caller may have no stack or heap left. */
    void trouble(KeyLine line, Throwable error) {
        cause = error;
        try {
            StackRoom.check();
            scheduler.schedule(
                    () -> {
                        repair();
                        line.check();
                    },
                    SOON);
        } catch (Throwable e) {
            // the next call repairs
        }
    }

    void repair() {
        Throwable error = cause;
        if (error != null) {
            cause = null;
            LOG.log(
                    System.Logger.Level.ERROR,
                    "An error cut the handling of a permit short; counts are restored from what calls hold and the store"
                            + " is asked again",
                    error);
            lines.each(KeyLine::check);
        }
    }
}
