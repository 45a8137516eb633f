package io.github.distributedpermit;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A permit that an outer call holds, as an inner call sees it that has joined it: its release leaves the permit with the outer
 * call. Thread-safe.
 */
final class JoinedPermit implements PermitContext.Wrapper {

    /** The permit that the outer call has taken, never one that it has joined itself. */
    final Permit outer;

    /** Where the outer call keeps it. */
    final PermitContext.Place place;

    private final AtomicBoolean released = new AtomicBoolean();

    JoinedPermit(Permit outer, PermitContext.Place place) {
        this.outer = outer;
        this.place = place;
    }

    @Override
    public Permit wrapped() {
        return outer;
    }

    @Override
    public boolean isHeld() {
        return !released.get() && outer.isHeld();
    }

    @Override
    public void onLoss(Runnable listener) {
        outer.onLoss(() -> {
            if (!released.get()) {
                listener.run();
            }
        });
    }

    @Override
    public boolean release() {
        boolean held = outer.isHeld();
        return released.compareAndSet(false, true) && held;
    }

    @Override
    public String toString() {
        return "Joined" + outer;
    }
}
