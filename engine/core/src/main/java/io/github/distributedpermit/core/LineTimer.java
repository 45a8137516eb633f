package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * The one timer of a line. It is only moved forward, never back: a timer that fires too early costs less than one set
 * anew at every event. Guarded by the lock of the line; the scheduler is asked when the lock is free.
 */
final class LineTimer {

    private final Runnable task;
    private @Nullable Alarm alarm;
    private long at = Long.MAX_VALUE;

    LineTimer(Runnable task) {
        this.task = task;
    }

    void arm(long time, long now, Effects effects) {
        if (time < at) {
            Alarm next = new Alarm(task, Math.max(0, time - now));
            effects.alarm(next, alarm);
            alarm = next;
            at = time;
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

    /** When the line is to be looked at; {@code Long.MAX_VALUE} for never. */
    long at() {
        return at;
    }

    void fired() {
        at = Long.MAX_VALUE;
        alarm = null;
    }

    /** The alarm could not be set. */
    void failed(Alarm which) {
        if (alarm == which) {
            fired();
        }
    }

    void stop(Effects effects) {
        effects.alarm(null, alarm);
        fired();
    }
}
