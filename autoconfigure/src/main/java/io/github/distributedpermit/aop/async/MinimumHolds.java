package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.spi.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
            QuietRelease.of(due.permit);
        }
    }

    /** Equal only to itself, whatever the permit is equal to. */
    private static final class Pending {

        private final Permit permit;

        Pending(Permit permit) {
            this.permit = permit;
        }
    }

    /**
     * A permit that is returned a minimum time after its work began, see {@code holdAtLeast}. Whoever releases it does not wait.
     * If the work never began, it is returned at once. A permit that the call has joined is held that long by the outer call,
     * which may end before. Thread-safe.
     */
    public static final class MinimumHold implements PermitContext.Wrapper {

        private static final long NOT_BEGUN = 0;

        private final Permit permit;
        private final long minimum;
        private final MinimumHolds holds;
        private final AtomicBoolean released = new AtomicBoolean();

        /** The time until which it is held; {@link #NOT_BEGUN} before the work begins. */
        private volatile long until = NOT_BEGUN;

        /** Of those, which end all of them at the shutdown. */
        MinimumHold(Permit permit, Duration minimum, MinimumHolds holds) {
            this.permit = permit;
            this.minimum = minimum.toNanos();
            this.holds = holds;
        }

        /** The work begins. */
        public void begin() {
            long end = holds.now() + minimum;
            if (!PermitContext.prolong(permit, outer -> holds.holdUntil(outer, end))) {
                holdUntil(end);
            }
        }

        /** Holds it until this time, or longer if it is held longer already. */
        void holdUntil(long time) {
            long known = until;
            if (known == NOT_BEGUN || time - known > 0) {
                until = time == NOT_BEGUN ? 1 : time;
            }
        }

        /** The same permit, held at least as long as this one. */
        Permit prolong(Permit same) {
            return holds.holdUntil(same, until);
        }

        @Override
        public Permit wrapped() {
            return permit;
        }

        @Override
        public boolean isHeld() {
            return !released.get() && permit.isHeld();
        }

        @Override
        public boolean release() {
            if (!released.compareAndSet(false, true)) {
                return false;
            }
            try {
                long end = until;
                long left = end == NOT_BEGUN ? 0 : end - holds.now();
                if (left > 0) {
                    boolean held = permit.isHeld();
                    holds.releaseLater(permit, left);
                    return held;
                }
            } catch (RuntimeException | Error e) {
                permit.release(); // without that time an early return is better than none
                throw e;
            }
            return permit.release();
        }
    }
}
