package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitGauges;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** One permit name in this process: its definition and what its calls do now. Thread-safe. */
final class NameUse implements PermitGauges {

    private static final System.Logger LOG = System.getLogger(NameUse.class.getName());

    final PermitDefinition definition;
    final Policy policy;
    final AtomicInteger holders = new AtomicInteger();
    final AtomicInteger waiters = new AtomicInteger();
    private final AtomicBoolean higherLimitLogged = new AtomicBoolean();
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

    /** Whether nothing has been said yet of others who go by a higher limit. */
    boolean isNewToHigherLimits() {
        return !higherLimitLogged.get();
    }

    /** The store goes by the limit stated here, and yet more than that is in use. Said once per name. */
    void warnOfHigherLimit(String key) {
        if (higherLimitLogged.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "More permits of key ''{0}'' are in use than the limit of {1} which this application states for"
                            + " ''{2}''. Another application, or another version of this one, states a higher limit,"
                            + " or an operator has just taken one back. Each claim is judged by the limit that it"
                            + " states: give all applications the same one, or override it for all of them.",
                    Text.escape(key),
                    Integer.toString(policy.limit()),
                    definition.name());
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
