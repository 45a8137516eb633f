package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A permit that goes back after a minimum time, see {@code holdAtLeast}. Whoever releases it does not wait. Thread-safe. */
final class MinimumHold implements Permit {

    private final Permit permit;
    private final long until;
    private final AtomicBoolean released = new AtomicBoolean();

    MinimumHold(Permit permit, Duration minimum) {
        this.permit = permit;
        this.until = System.nanoTime() + minimum.toNanos();
    }

    @Override
    public String name() {
        return permit.name();
    }

    @Override
    public String key() {
        return permit.key();
    }

    @Override
    public int permits() {
        return permit.permits();
    }

    @Override
    public PermitToken token() {
        return permit.token();
    }

    @Override
    public boolean isHeld() {
        return !released.get() && permit.isHeld();
    }

    @Override
    public void onLoss(Runnable listener) {
        permit.onLoss(listener);
    }

    @Override
    public boolean release() {
        if (!released.compareAndSet(false, true)) {
            return false;
        }
        long left = until - System.nanoTime();
        if (left <= 0) {
            return permit.release();
        }
        boolean held = permit.isHeld();
        try {
            // Not on the common pool: calls that wait for this permit may occupy all of its threads.
            CompletableFuture.delayedExecutor(left, TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(permit::close);
        } catch (RuntimeException | Error e) {
            permit.close(); // without a timer an early return is better than none
        }
        return held;
    }
}
