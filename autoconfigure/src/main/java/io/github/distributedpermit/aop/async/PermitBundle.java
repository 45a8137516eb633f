package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.aop.async.MinimumHolds.MinimumHold;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The permits of one call, released together and once. Thread-safe. */
public final class PermitBundle {

    /** {@code null} once they are released. */
    private @Nullable List<Permit> permits;

    /** What an outer call holds around these. */
    private volatile @Nullable PermitBundle outer;

    /** Takes charge of these permits. */
    public PermitBundle(Collection<Permit> permits) {
        this.permits = new ArrayList<>(permits);
    }

    /**
     * Begins the work: while the method runs, these are the current permits of its thread, and not those of a method that
     * subscribes to it. A minimum hold counts from here. Of a bundle that was released there is nothing to bind.
     */
    <T> @Nullable T begin(Beginning<T> method) throws Throwable {
        try (PermitContext.Scope scope = PermitContext.open()) {
            synchronized (this) {
                if (permits != null) {
                    permits.forEach(permit -> begin(permit, scope));
                }
            }
            try {
                return method.call();
            } finally {
                keepMinimums(scope);
            }
        }
    }

    /** Calls on this thread that joined a permit may have prolonged it in the scope only. */
    private void keepMinimums(PermitContext.Scope scope) {
        for (Permit permit = scope.removeLast(); permit != null; permit = scope.removeLast()) {
            if (permit instanceof MinimumHold hold) {
                prolong(hold, hold::prolong);
            }
        }
    }

    private static void begin(Permit permit, PermitContext.Scope scope) {
        scope.add(permit);
        if (permit instanceof MinimumHold hold) {
            hold.begin();
        }
    }

    /** The part of the work that runs on the thread that begins it. */
    @FunctionalInterface
    interface Beginning<T> {

        @Nullable
        T call() throws Throwable;
    }

    /** These permits, with those of an outer call around them. */
    PermitBundle within(@Nullable PermitBundle around) {
        outer = around;
        return this;
    }

    /** The permit of the request's key among these or those around, for a call that joins it; {@code null} if there is none. */
    public @Nullable Permit join(PermitRequest request) {
        Permit own;
        synchronized (this) {
            own = permits == null ? null : PermitContext.join(request, permits, this::prolong);
        }
        PermitBundle around = outer;
        return own == null && around != null ? around.join(request) : own;
    }

    private synchronized void prolong(Permit permit, UnaryOperator<Permit> longer) {
        if (permits != null) {
            permits.replaceAll(each -> PermitContext.Place.isSame(each, permit) ? longer.apply(each) : each);
        }
    }

    /** Releases all, the last one first. Never throws, and has no effect the second time. */
    public void release() {
        List<Permit> due;
        synchronized (this) {
            due = permits;
            permits = null;
        }
        if (due != null) {
            for (int i = due.size() - 1; i >= 0; i--) {
                QuietRelease.of(due.get(i));
            }
        }
    }
}
