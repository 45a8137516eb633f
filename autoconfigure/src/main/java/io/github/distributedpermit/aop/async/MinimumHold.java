package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A permit that is returned a minimum time after its work began, see {@code holdAtLeast}. Whoever releases it does not wait.
 * If the work never began, it is returned at once. A permit that the call has joined is held that long by the outer call,
 * which may end before. Thread-safe.
 */
public final class MinimumHold implements PermitContext.Wrapper {

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
        long end = until;
        long left = end == NOT_BEGUN ? 0 : end - holds.now();
        if (left <= 0) {
            return permit.release();
        }
        boolean held = permit.isHeld();
        holds.releaseLater(permit, left);
        return held;
    }
}
