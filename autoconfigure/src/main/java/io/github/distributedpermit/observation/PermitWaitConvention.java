package io.github.distributedpermit.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names and key values of the observation of one wait. A bean of this type replaces {@link DefaultPermitWaitConvention}. */
public interface PermitWaitConvention extends ObservationConvention<PermitWaitContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof PermitWaitContext;
    }
}
