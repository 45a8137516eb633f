package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a {@link KeyQueue}. It is only set to an earlier time, never to a later one: a timer that fires too early
 * costs less than one that is set anew at every event. Guarded by the lock of the queue; the scheduler itself is called by
 * the {@link Effects}, without the lock.
 */
final class KeyQueueTimer {

    private final Runnable task;
    private @Nullable Alarm alarm;
    private long at = Times.NEVER;

    KeyQueueTimer(Runnable task) {
        this.task = task;
    }

    /** Has the timer fire at this time at the latest. */
    void arm(long time, long now, Effects effects) {
        if (time < at) {
            Alarm next = new Alarm(task, Math.max(0, time - now));
            effects.alarm(next, alarm);
            alarm = next;
            at = time;
        }
    }

    /** Whether the timer fires by that time in any case. */
    boolean firesBy(long time) {
        return at <= time;
    }

    /** Counts a delay from now on, because it has been taken into account until now. */
    void excuse(long now) {
        if (at < now) {
            at = now;
        }
    }

    /** When it fires; {@link Times#NEVER} if it is not set. */
    long at() {
        return at;
    }

    /** The timer has fired. */
    void fired() {
        at = Times.NEVER;
        alarm = null;
    }

    /** The alarm could not be set. */
    void failed(Alarm which) {
        if (alarm == which) {
            fired();
        }
    }

    /** Cancels the timer. */
    void stop(Effects effects) {
        effects.alarm(null, alarm);
        fired();
    }
}
