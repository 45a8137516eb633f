package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitGauges;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One permit name in this process: its definition, the {@link Policy} that applies to its calls, and the gauges that the
 * observer reads. Thread-safe. There is one per name, in the {@code Catalog}.
 */
public final class PermitStats implements PermitGauges {

    private static final System.Logger LOG = System.getLogger(PermitStats.class.getName());

    public final PermitDefinition definition;
    public final Policy policy;
    final AtomicInteger holders = new AtomicInteger();
    public final AtomicInteger waiters = new AtomicInteger();
    private final AtomicBoolean higherLimitLogged = new AtomicBoolean();
    private volatile int knownLimit;

    public PermitStats(PermitDefinition definition, Policy policy) {
        this.definition = definition;
        this.policy = policy;
        this.knownLimit = policy.limit();
    }

    /** The limit of a key that the store uses. Written only if it changes, because it is read by other threads. */
    void limitIs(int limit) {
        if (knownLimit != limit) {
            knownLimit = limit;
        }
    }

    /** Whether the warning has not been logged yet. */
    boolean isNewToHigherLimits() {
        return !higherLimitLogged.get();
    }

    /** The store uses the limit stated here, and yet more permits than that are in use. Logged once per name. */
    void warnOfHigherLimit(String key) {
        if (higherLimitLogged.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "More permits of key ''{0}'' are in use than the limit of {1} which this application states for"
                            + " ''{2}''. Another application, or another version of this one, states a higher limit,"
                            + " or an operator has just taken one back. Each claim is judged by the limit that it"
                            + " states: give all applications the same one, or override it for all of them.",
                    LogSafe.escape(key),
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
