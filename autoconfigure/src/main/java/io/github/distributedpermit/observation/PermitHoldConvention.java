package io.github.distributedpermit.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names and key values of the observation of one hold. A bean of this type replaces {@link DefaultPermitHoldConvention}. */
public interface PermitHoldConvention extends ObservationConvention<PermitHoldContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof PermitHoldContext;
    }
}
