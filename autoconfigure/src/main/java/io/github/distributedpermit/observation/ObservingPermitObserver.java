package io.github.distributedpermit.observation;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitStoreException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Makes an observation of each wait and of each hold. Both are children of the observation that is current when the call
 * arrives, and neither becomes current itself, because a permit may be released on another thread. Does nothing while the
 * registry has no handler. Thread-safe.
 */
public final class ObservingPermitObserver implements PermitObserver {

    private final ObservationRegistry registry;
    private final PermitWaitConvention waits;
    private final PermitHoldConvention holds;

    /** Observes with this registry. */
    public ObservingPermitObserver(
            ObservationRegistry registry, PermitWaitConvention waits, PermitHoldConvention holds) {
        this.registry = registry;
        this.waits = waits;
        this.holds = holds;
    }

    @Override
    public void arrived(PermitCall call, boolean waiting) {
        if (registry.isNoop()) {
            return;
        }
        Observation parent = registry.getCurrentObservation();
        Observed observed = new Observed(parent, null, null);
        if (waiting) {
            PermitWaitContext context = new PermitWaitContext(call.observedName(), call.key(), call.permits());
            observed = observed.begin(Observation.createNotStarted(waits, () -> context, registry), context);
        }
        call.attach(this, observed);
    }

    @Override
    public void acquired(PermitCall call, Via via, Duration waited) {
        Observed observed = observed(call);
        if (observed != null) {
            observed.end("granted");
            PermitHoldContext context = new PermitHoldContext(call.observedName(), call.key(), call.permits());
            Observed hold = observed.begin(Observation.createNotStarted(holds, () -> context, registry), context);
            call.attach(this, hold);
            if (call.isLost()) {
                hold.lost();
            }
        }
    }

    @Override
    public void rejected(PermitCall call, Reason reason, Duration waited) {
        end(call, reason.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public void failed(PermitCall call, Throwable cause, Duration waited) {
        Observed observed = observed(call);
        if (observed != null && observed.running != null) {
            observed.running.error(withoutSecrets(cause));
            observed.end("failed");
        }
    }

    /** Only our own messages are known to have no secrets, and the exception of the store's client would follow as the cause. */
    private static Throwable withoutSecrets(Throwable cause) {
        String message = cause instanceof PermitStoreException ? cause.getMessage() : null;
        return PermitStoreException.passing(message == null ? cause.getClass().getSimpleName() : message, null);
    }

    @Override
    public void abandoned(PermitCall call, Duration waited) {
        end(call, "abandoned");
    }

    @Override
    public void lost(PermitCall call) {
        Observed observed = observed(call);
        if (observed != null) {
            observed.lost();
        }
    }

    @Override
    public void released(PermitCall call, Duration held) {
        end(call, "released");
    }

    private void end(PermitCall call, String outcome) {
        Observed observed = observed(call);
        if (observed != null) {
            observed.end(outcome);
        }
    }

    private @Nullable Observed observed(PermitCall call) {
        return (Observed) call.attached(this);
    }

    /** What is attached to a call: the observation that was current when it arrived, and its own one that runs. */
    private record Observed(
            @Nullable Observation parent,
            @Nullable Observation running,
            @Nullable PermitObservationContext context) {

        Observed begin(Observation observation, PermitObservationContext of) {
            if (parent != null) {
                observation.parentObservation(parent);
            }
            return new Observed(parent, observation.start(), of);
        }

        void end(String outcome) {
            if (running != null && context != null) {
                context.end(outcome);
                running.stop();
            }
        }

        /** The loss may come at the same time as the grant, so that both call this. */
        void lost() {
            if (running != null && context instanceof PermitHoldContext && context.end("lost")) {
                running.event(Observation.Event.of("lost", "permit lost"));
            }
        }
    }
}
