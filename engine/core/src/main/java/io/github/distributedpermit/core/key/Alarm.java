package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * One setting of a {@link KeyQueueTimer}. It is created under the lock of the queue, but set and cancelled without it, because
 * the scheduler has locks of its own. So it may be cancelled before it has been set. Thread-safe.
 */
final class Alarm {

    private final Runnable task;
    private final long delay;
    private volatile Scheduler.@Nullable Timer timer;
    private volatile boolean cancelled;

    Alarm(Runnable task, long delay) {
        this.task = task;
        this.delay = delay;
    }

    /** Schedules the task, unless this was cancelled meanwhile. */
    void set(Scheduler scheduler) {
        if (cancelled) {
            return;
        }
        Scheduler.Timer running = scheduler.schedule(task, delay);
        timer = running;
        // cancel() may have run between the two and seen no timer
        if (cancelled) {
            running.cancel();
        }
    }

    /** Takes the task back if it has not run. */
    void cancel() {
        cancelled = true;
        Scheduler.Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }
}
