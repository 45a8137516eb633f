package io.github.distributedpermit.backend.consul;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Logs a warning about a condition that may last: when it begins, and then once a minute; in between on level DEBUG. Confined to
 * the event loop.
 */
final class RateLimitedLog {

    /** In nanoseconds. */
    private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

    private final System.Logger log;
    private final LongSupplier ticker;
    /** When a warning was logged last, in nanoseconds; valid while {@link #isQuiet}. */
    private long last;
    /** A warning about the present condition was logged. */
    private boolean isQuiet;

    RateLimitedLog(System.Logger log, LongSupplier ticker) {
        this.log = log;
        this.ticker = ticker;
    }

    /** The condition was observed, for the first time or again. */
    void warn(String message) {
        long now = ticker.getAsLong();
        boolean rests = isQuiet && now - last < PAUSE;
        if (!rests) {
            isQuiet = true;
            last = now;
        }
        log.log(rests ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING, message);
    }

    /** The condition has ended. The next warning is logged at once. */
    void over() {
        isQuiet = false;
    }
}
