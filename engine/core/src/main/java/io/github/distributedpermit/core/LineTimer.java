package io.github.distributedpermit.core;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a line. It is only moved forward, never back: a timer that fires too early costs less than one set
 * anew at every event. Guarded by the lock of the line.
 */
final class LineTimer {

    private final LineHost host;
    private final Runnable task;
    private Scheduler.@Nullable Timer timer;
    private long at = Long.MAX_VALUE;

    LineTimer(LineHost host, Runnable task) {
        this.host = host;
        this.task = task;
    }

    void arm(long time, long now) {
        if (time < at) {
            stop();
            at = time;
            try {
                timer = host.scheduler().schedule(task, Math.max(0, time - now));
            } catch (RejectedExecutionException e) {
                // the application has ended; what is left lapses with its lease
                fired();
            }
        }
    }

    /** Whether the line is looked at until then in any case. */
    boolean firesBy(long time) {
        return at <= time;
    }

    /** For how long it should have fired and has not; the process stood still, or has too few threads. */
    long lateBy(long now) {
        return now > at ? now - at : 0;
    }

    /** That it is late has been noticed. */
    void excuse(long now) {
        at = now;
    }

    void fired() {
        at = Long.MAX_VALUE;
        timer = null;
    }

    void stop() {
        if (timer != null) {
            timer.cancel();
        }
        fired();
    }
}
