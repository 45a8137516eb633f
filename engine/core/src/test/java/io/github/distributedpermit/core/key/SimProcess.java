package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Scheduler;

/** A process of a simulated world: its clock, its timers, whether it is stopped or dead. */
final class SimProcess implements Scheduler {

    final String id;
    private final Timeline time;
    private final long clockOffset;
    private long stoppedAt;
    private long stoppedUntil;
    private long stood;
    private boolean dead;
    private long timersFired;

    SimProcess(String id, Timeline time, long clockOffset) {
        this.id = id;
        this.time = time;
        this.clockOffset = clockOffset;
    }

    /** Its monotonic clock, which started at some other time than everybody else's. */
    long clock() {
        return time.now() + clockOffset;
    }

    /** Nothing happens to it before it goes on, then everything at once. */
    void stop(long duration) {
        stood += duration;
        stoppedAt = time.now();
        stoppedUntil = Math.max(stoppedUntil, time.now() + duration);
    }

    /** Its clock without the time it was stopped; only once it goes on. */
    long runningTime() {
        return clock() - stood;
    }

    /** Whether it was ever stopped. */
    boolean wasStopped() {
        return stood > 0;
    }

    /** When it was last stopped. */
    long stoppedAt() {
        return stoppedAt;
    }

    long stoppedUntil() {
        return stoppedUntil;
    }

    boolean isStopped() {
        return stoppedUntil > time.now();
    }

    void kill() {
        dead = true;
    }

    boolean isDead() {
        return dead;
    }

    long timersFired() {
        return timersFired;
    }

    @Override
    public Timer schedule(Runnable task, long delayNanos) {
        return time.after(delayNanos, this, () -> {
            timersFired++;
            task.run();
        });
    }

    @Override
    public String toString() {
        return id;
    }
}
