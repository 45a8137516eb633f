package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * One timer of a {@link LineTimer}, set and cancelled outside of the lock of the line: the scheduler has locks of its own.
 * Thread-safe.
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

    void set(Scheduler scheduler) {
        if (cancelled) {
            return;
        }
        Scheduler.Timer running = scheduler.schedule(task, delay);
        timer = running;
        if (cancelled) {
            running.cancel();
        }
    }

    void cancel() {
        cancelled = true;
        Scheduler.Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }
}
