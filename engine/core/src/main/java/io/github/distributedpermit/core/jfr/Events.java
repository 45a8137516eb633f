package io.github.distributedpermit.core.jfr;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Locale;

/**
 * Records waits, holds and losses while a recording has switched their events on. The event that has begun is attached to its call.
 * A class of its own, so that nothing of {@code jdk.jfr} is loaded where that module is absent. A running recording instruments the
 * classes of the events, and then these instances answer {@code true}.
 */
final class Events implements PermitObserver {

    private static final PermitWaitEvent WAIT = new PermitWaitEvent();
    private static final PermitHoldEvent HOLD = new PermitHoldEvent();

    static boolean followCalls() {
        return WAIT.isEnabled() || HOLD.isEnabled();
    }

    @Override
    public void arrived(PermitCall call, boolean waits) {
        if (waits && followCalls()) {
            PermitWaitEvent wait = new PermitWaitEvent();
            wait.begin();
            call.attach(this, wait);
        }
    }

    @Override
    public void acquired(PermitCall call, Via via, Duration waited) {
        waited(call, "granted");
        if (followCalls()) {
            PermitHoldEvent hold = new PermitHoldEvent();
            hold.begin();
            call.attach(this, hold);
        }
    }

    @Override
    public void rejected(PermitCall call, Reason reason, Duration waited) {
        waited(call, reason.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public void failed(PermitCall call, Throwable cause, Duration waited) {
        waited(call, "failed");
    }

    @Override
    public void abandoned(PermitCall call, Duration waited) {
        waited(call, "abandoned");
    }

    private void waited(PermitCall call, String outcome) {
        if (call.attached(this) instanceof PermitWaitEvent wait) {
            wait.outcome = outcome;
            wait.commit(call);
        }
    }

    @Override
    public void released(PermitCall call, Duration held) {
        if (call.attached(this) instanceof PermitHoldEvent hold) {
            hold.commit(call);
        }
    }

    @Override
    public void lost(PermitCall call) {
        new PermitLossEvent().commit(call);
    }
}
