package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.LogSafe;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One name of permits in this process: its definition, the {@link Policy} that applies to its calls, both of which may change while
 * the application runs, and its numbers. Thread-safe. There is one per name, in the {@code Catalog}.
 */
public final class PermitName {

    private static final System.Logger LOG = System.getLogger(PermitName.class.getName());

    private final String name;

    /** The numbers for the observer, which all names of one pattern have together. */
    public final NameCounts counts;

    /** The numbers of this name alone; the same object if the name has its own meters. */
    public final NameCounts ownCounts;

    private final AtomicBoolean higherLimitLogged = new AtomicBoolean();
    private volatile Terms terms;

    /** Whether calls in code that do not say themselves wait in the queue. */
    private volatile boolean waiting = true;

    /** Whether the limit was lowered, and calls that began before may still exceed it. */
    private volatile boolean draining;

    public PermitName(PermitDefinition definition, Policy policy) {
        this(definition, policy, new NameCounts(definition.name(), policy.limit()));
    }

    /** A name whose numbers are also part of these, which may be those of a pattern. */
    public PermitName(PermitDefinition definition, Policy policy, NameCounts counts) {
        this.name = definition.name();
        this.terms = new Terms(definition, policy);
        this.counts = counts;
        this.ownCounts = counts.name().equals(name) ? counts : new NameCounts(name, policy.limit());
    }

    /** The name, as calls state it. */
    public String name() {
        return name;
    }

    /** The name for the observer: that of its settings, which may be a pattern. */
    public String observedName() {
        return counts.name();
    }

    /** The definition in effect. */
    public PermitDefinition definition() {
        return terms.definition;
    }

    /** The policy in effect. */
    public Policy policy() {
        return terms.policy;
    }

    /** Applies changed settings to all calls from now on. The queues have to be notified afterwards. */
    public void change(PermitDefinition definition, Policy policy) {
        Policy before = terms.policy;
        if (policy.limit() < before.limit()) {
            draining = true;
        }
        terms = new Terms(definition, policy.equals(before) ? before : policy);
        ownCounts.changeLimit(before.limit(), policy.limit());
    }

    /** Whether calls in code that do not say themselves wait in the queue. */
    public boolean callsWait() {
        return waiting;
    }

    /**
     * Applies what the settings of the name say about that. What an annotation says is for its own method: of one name there
     * may be methods that wait and methods that do not.
     */
    public void letCallsWait(@Nullable Boolean block) {
        waiting = block == null || block;
    }

    /**
     * Keeps the limit of a key that the store uses, and ends the draining after a lowered limit once no more permits are in
     * use.
     */
    void limitIs(int limit, boolean over) {
        ownCounts.limitIs(limit);
        counts.limitIs(limit);
        if (draining && !over && limit == terms.policy.limit()) {
            draining = false;
        }
    }

    /** Whether more permits in use than this limit are unexpected, and the warning has not been logged yet. */
    boolean isNewToHigherLimits() {
        return !draining && !higherLimitLogged.get();
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
                    Integer.toString(policy().limit()),
                    name);
        }
    }

    /** The store may have lost its state, and an operator's limit is not in force any more. */
    void warnOfLostOverride(String key, int before, int now) {
        LOG.log(
                System.Logger.Level.WARNING,
                "The limit {0} that an operator had set for key ''{1}'' of ''{2}'' is not in the store any more, which may have lost its"
                        + " state: the limit in force is {3}. Set it again if it is to apply.",
                Integer.toString(before),
                LogSafe.escape(key),
                LogSafe.escape(name),
                Integer.toString(now));
    }

    /** What a change replaces at once. */
    private record Terms(PermitDefinition definition, Policy policy) {}
}
