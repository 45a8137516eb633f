package io.github.distributedpermit.observation;

import io.micrometer.common.KeyValues;

/**
 * The observation {@code distributed.permit.holding} with the low cardinality key values {@code name} and {@code outcome}, and with
 * high cardinality {@code key} and {@code permits}. Stateless; may be extended.
 */
public class DefaultPermitHoldConvention implements PermitHoldConvention {

    @Override
    public String getName() {
        return "distributed.permit.holding";
    }

    @Override
    public String getContextualName(PermitHoldContext context) {
        return "hold permit " + context.getPermit();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(PermitHoldContext context) {
        return KeyValues.of("name", context.getPermit(), "outcome", context.getOutcome());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(PermitHoldContext context) {
        return KeyValues.of("key", context.getKey(), "permits", Integer.toString(context.getPermits()));
    }
}
