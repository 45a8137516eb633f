package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.spi.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The permits whose work has ended before their minimum time, see {@code holdAtLeast}. They are returned when that time has
 * passed, or when the application shuts down, which does not wait for them. With {@code release=sync} a return waits for the
 * store, so it has threads of its own, daemons that end when they are idle. Thread-safe.
 */
public final class MinimumHolds {

    private static final int THREADS = 8;
    private static final long IDLE_SECONDS = 10;

    private final Supplier<TimeSource> time;
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), MinimumHolds::daemon);
    private final Set<Pending> pending = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    /**
     * Creates it.
     *
     * @param time on which the minimum times run, asked for at the first permit that has one
     */
    public MinimumHolds(Supplier<TimeSource> time) {
        this.time = time;
        threads.allowCoreThreadTimeOut(true);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "distributed-permit-minimum-hold");
        thread.setDaemon(true);
        return thread;
    }

    /** The permit as a method holds it that has this minimum. */
    public Permit hold(Permit permit, Duration minimum) {
        return new MinimumHold(permit, minimum, this);
    }

    /** The permit of an outer call, held until this time at least. */
    Permit holdUntil(Permit permit, long time) {
        MinimumHold hold = permit instanceof MinimumHold held ? held : new MinimumHold(permit, Duration.ZERO, this);
        hold.holdUntil(time);
        return hold;
    }

    long now() {
        return time.get().nanoTime();
    }

    void releaseLater(Permit permit, long nanos) {
        Pending due = new Pending(permit);
        pending.add(due);
        if (ended) {
            release(due);
            return;
        }
        try {
            time.get().schedule(() -> releaseApart(due), nanos);
        } catch (RuntimeException | Error e) {
            release(due); // without a timer an early return is better than none
        }
    }

    /** The application has been started again. */
    public void begin() {
        ended = false;
    }

    /** Returns all of them now, and from now on each when its work has ended. */
    public void end() {
        ended = true;
        pending.forEach(this::release);
    }

    /** Not on the thread of the JDK that runs the timers of the whole process. */
    private void releaseApart(Pending due) {
        if (time.get() != TimeSource.SYSTEM) {
            release(due); // a test moves the time, and expects its effects when that has been done
            return;
        }
        try {
            threads.execute(() -> release(due));
        } catch (OutOfMemoryError e) {
            release(due); // there is no thread
        }
    }

    private void release(Pending due) {
        if (pending.remove(due)) {
            PermitBundle.releaseQuietly(due.permit);
        }
    }

    /** Equal only to itself, whatever the permit is equal to. */
    private static final class Pending {

        private final Permit permit;

        Pending(Permit permit) {
            this.permit = permit;
        }
    }
}
