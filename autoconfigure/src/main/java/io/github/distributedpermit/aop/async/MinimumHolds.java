package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The permits whose work has ended before their minimum time, see {@code holdAtLeast}. They are returned when that time has
 * passed, or when the application shuts down, which does not wait for them. Thread-safe.
 */
public final class MinimumHolds {

    private final Set<Pending> pending = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    /** The permit as a method holds it that has this minimum. */
    public Permit hold(Permit permit, Duration minimum) {
        return new MinimumHold(permit, minimum, this);
    }

    void releaseLater(Permit permit, long nanos) {
        Pending due = new Pending(permit);
        pending.add(due);
        if (ended) {
            release(due);
            return;
        }
        try {
            // Not on the common pool: calls that wait for this permit may occupy all of its threads.
            CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(() -> release(due));
        } catch (RuntimeException | Error e) {
            release(due); // without a timer an early return is better than none
        }
    }

    /** Returns all of them now, and from now on each when its work has ended. */
    public void end() {
        ended = true;
        pending.forEach(this::release);
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
