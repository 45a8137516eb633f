package io.github.distributedpermit.observation;

import io.github.distributedpermit.spi.CallObserver;
import io.github.distributedpermit.spi.PermitObserver;
import io.micrometer.observation.ObservationRegistry;
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
    public @Nullable CallObserver arrived(String name, String key, int permits, boolean waiting) {
        return registry.isNoop() ? null : new ObservedCall(registry, waits, holds, name, key, permits, waiting);
    }
}
