package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;

/**
 * Returns the permits that are kept only for {@code holdAtLeast}, just before the shutdown waits for the calls that hold
 * permits: a job that has ended does not hold up the shutdown.
 */
final class EndMinimumHoldsOnStop extends ContextLifecycle {

    private final PermitOperations operations;

    EndMinimumHoldsOnStop(PermitOperations operations) {
        this.operations = operations;
    }

    @Override
    void begin() {
        operations.beginMinimumHolds();
    }

    @Override
    void end() {
        operations.endMinimumHolds();
    }

    @Override
    public int getPhase() {
        return StoreMembership.PHASE + 1;
    }
}
