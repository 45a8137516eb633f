package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitGauges;
import java.util.concurrent.atomic.AtomicInteger;

/** One permit name in this process: its definition and what its calls do now. Thread-safe. */
final class NameUse implements PermitGauges {

    final PermitDefinition definition;
    final Policy policy;
    final AtomicInteger holders = new AtomicInteger();
    final AtomicInteger waiters = new AtomicInteger();
    private volatile int knownLimit;

    NameUse(PermitDefinition definition, Policy policy) {
        this.definition = definition;
        this.policy = policy;
        this.knownLimit = policy.limit();
    }

    /** What the store says the limit of a key is. */
    void heardLimit(int limit) {
        if (knownLimit != limit) {
            knownLimit = limit;
        }
    }

    @Override
    public String name() {
        return definition.name();
    }

    @Override
    public int holders() {
        return holders.get();
    }

    @Override
    public int waiters() {
        return waiters.get();
    }

    @Override
    public int limit() {
        return knownLimit;
    }
}
