package io.github.distributedpermit.observation;

import io.micrometer.common.KeyValues;

/**
 * The observation {@code distributed.permit.waiting} with the low cardinality key values {@code name} and {@code outcome}, and with
 * high cardinality {@code key} and {@code permits}. Stateless; may be extended.
 */
public class DefaultPermitWaitConvention implements PermitWaitConvention {

    @Override
    public String getName() {
        return "distributed.permit.waiting";
    }

    @Override
    public String getContextualName(PermitWaitContext context) {
        return "wait for permit " + context.getPermit();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(PermitWaitContext context) {
        return KeyValues.of("name", context.getPermit(), "outcome", context.getOutcome());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(PermitWaitContext context) {
        return KeyValues.of("key", context.getKey(), "permits", Integer.toString(context.getPermits()));
    }
}
