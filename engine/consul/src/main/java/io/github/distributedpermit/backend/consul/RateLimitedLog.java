package io.github.distributedpermit.backend.consul;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Logs a warning about something that goes on for long: the first time, and then once a minute; between these on level DEBUG. Confined to the event loop. */
final class RateLimitedLog {

    private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

    private final System.Logger log;
    private final LongSupplier ticker;
    private long last;
    private boolean isQuiet;

    RateLimitedLog(System.Logger log, LongSupplier ticker) {
        this.log = log;
        this.ticker = ticker;
    }

    /** It goes on. */
    void warn(String message) {
        long now = ticker.getAsLong();
        boolean rests = isQuiet && now - last < PAUSE;
        if (!rests) {
            isQuiet = true;
            last = now;
        }
        log.log(rests ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING, message);
    }

    /** It is over, and the next time is the first again. */
    void over() {
        isQuiet = false;
    }
}
