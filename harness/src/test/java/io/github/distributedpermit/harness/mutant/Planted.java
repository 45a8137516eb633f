package io.github.distributedpermit.harness.mutant;

import java.util.Arrays;
import java.util.List;

/** Mistakes that the harness must find: each with the scenario that finds it. */
public enum Planted {
    /** The count of a key forgets whose the permits were, so that those of the dead never come back. */
    COUNTER_WITHOUT_IDS("redis-kill-holder", 6, Patch.script("serve", "op.used = op.used - r.permits\n    if", "if")),
    /** The store counts the lease on another clock than members do: it ends earlier than they think. */
    ANOTHER_CLOCK(
            "redis-stop-short", 20, Patch.script("claim", "r.expiry = now + lease", "r.expiry = now + lease / 2")),
    /** Who heads the line and is dead is granted all the same. */
    DEAD_HEAD_IS_SERVED(
            "redis-kill-waiter", 20, Patch.script("serve", "return op.clustered or heard > 0", "return true")),
    /** A claim that is older than the last one seen counts. */
    SEQUENCE_IGNORED("redis-client-pause", 20, Patch.script("claim", "sequence <= r.sequence", "sequence < 0")),
    /** The line is served by who asked last. */
    LAST_COME_FIRST_SERVED("redis-kill-waiter", 6, Patch.script("claim", "now - waited", "waited - now")),
    /** Members are told of grants, but the record does not grow. */
    GRANT_NOT_COUNTED("redis-races", 1, Patch.script("serve", "op.used = op.used + target - r.permits\n", "")),
    /** Tokens begin anew whenever the store is emptied or the key vanishes. */
    VERSION_RESTARTS("redis-flushall", 6, Patch.script("serve", "math.max(op.version + 1, op.now)", "op.version + 1")),
    /** A deadline counted from the answer, and longer than the lease. */
    DEADLINE_BEYOND_LEASE("redis-sigstop", 20, Patch.core("DEADLINE_BEYOND_LEASE")),
    /** Nobody asks again after a lost notice. */
    NO_RECHECK("redis-kill-pubsub", 10, Patch.core("NO_RECHECK")),
    /** A permit that arrives at the moment of a cancel is nobody's. */
    CANCEL_LEAKS("redis-races", 4, Patch.core("CANCEL_LEAKS")),
    /** A member takes permits before the store has granted them. */
    GROWN_BEFORE_ANSWER("redis-kill-holder", 2, Patch.core("GROWN_BEFORE_ANSWER")),
    /** Answers to earlier claims give back what later ones have returned. */
    ANSWERS_UNCAPPED("redis-none", 2, Patch.core("ANSWERS_UNCAPPED")),
    /** Permits are counted as returned only after the return was sent. */
    SHRUNK_AFTER_SENDING("redis-none", 2, Patch.core("SHRUNK_AFTER_SENDING")),
    /** Grants of one version share a token. */
    TOKEN_IS_VERSION("redis-none", 1, Patch.core("TOKEN_IS_VERSION"));

    private final String scenario;
    private final int hits;
    private final Patch patch;

    Planted(String scenario, int hits, Patch patch) {
        this.scenario = scenario;
        this.hits = hits;
        this.patch = patch;
    }

    /** Name of the scenario that finds it. */
    public String scenario() {
        return scenario;
    }

    /** How many hits that needs at most. */
    public int hits() {
        return hits;
    }

    Patch patch() {
        return patch;
    }

    /** Those of these names, or all. */
    public static List<Planted> named(List<String> names) {
        return names.isEmpty()
                ? List.of(values())
                : names.stream().map(Planted::valueOf).toList();
    }

    /** All names. */
    public static List<String> names() {
        return Arrays.stream(values()).map(Enum::name).toList();
    }
}
