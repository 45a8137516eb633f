package io.github.distributedpermit.observation;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;
import io.github.distributedpermit.spi.PermitStoreException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The observations of one call: its wait, then its hold. */
final class ObservedCall implements CallObserver {

    private final ObservationRegistry registry;
    private final PermitHoldConvention holds;
    private final PermitHoldContext held;
    private final @Nullable Observation parent;
    private final @Nullable PermitWaitContext waited;
    private final @Nullable Observation wait;
    private volatile @Nullable Observation hold;

    ObservedCall(
            ObservationRegistry registry,
            PermitWaitConvention waits,
            PermitHoldConvention holds,
            String name,
            String key,
            int permits,
            boolean waiting) {
        this.registry = registry;
        this.holds = holds;
        this.parent = registry.getCurrentObservation();
        this.held = new PermitHoldContext(name, key, permits);
        if (waiting) {
            PermitWaitContext context = new PermitWaitContext(name, key, permits);
            this.waited = context;
            this.wait = begin(Observation.createNotStarted(waits, () -> context, registry));
        } else {
            this.waited = null;
            this.wait = null;
        }
    }

    private Observation begin(Observation observation) {
        if (parent != null) {
            observation.parentObservation(parent);
        }
        return observation.start();
    }

    @Override
    public void granted() {
        endWait("granted");
        hold = begin(Observation.createNotStarted(holds, () -> held, registry));
    }

    @Override
    public void rejected(Reason reason) {
        endWait(reason.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public void failed(Throwable cause) {
        if (wait != null) {
            wait.error(withoutSecrets(cause));
        }
        endWait("failed");
    }

    /** Only our own messages are known to have no secrets, and the exception of the store's client would follow as the cause. */
    private static Throwable withoutSecrets(Throwable cause) {
        String message = cause instanceof PermitStoreException ? cause.getMessage() : null;
        return PermitStoreException.passing(message == null ? cause.getClass().getSimpleName() : message, null);
    }

    @Override
    public void abandoned() {
        endWait("abandoned");
    }

    private void endWait(String outcome) {
        if (wait != null && waited != null) {
            waited.setOutcome(outcome);
            wait.stop();
        }
    }

    @Override
    public void lost() {
        Observation running = hold;
        if (running != null) {
            held.setOutcome("lost");
            running.event(Observation.Event.of("lost", "permit lost"));
        }
    }

    @Override
    public void released() {
        Observation running = hold;
        if (running != null) {
            if (held.getOutcome().equals("none")) {
                held.setOutcome("released");
            }
            running.stop();
        }
    }
}
