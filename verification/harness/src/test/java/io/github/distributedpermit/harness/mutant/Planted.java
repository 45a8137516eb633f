package io.github.distributedpermit.harness.mutant;

import java.util.Arrays;
import java.util.List;

/** Mistakes that the harness must find: each with the scenario that finds it. */
public enum Planted {
    COUNTER_WITHOUT_IDS(
            "the count of a key forgets whose the permits were, so that those of crashed members never come back",
            "redis-kill-holder",
            4,
            Patch.script("serve", "op.used = op.used - r.permits\n    if", "if")),
    ANOTHER_CLOCK(
            "the store counts the lease on another clock than members do: it ends earlier than they think",
            "redis-stop-short",
            6,
            Patch.script("claim", "r.expiry = now + lease", "r.expiry = now + lease / 2")
                    .and(Patch.script("claims", "expiry = now + lasts\n", "expiry = now + lasts / 2\n"))
                    .and(Patch.script("queued", "expiry = now + lasts\n", "expiry = now + lasts / 2\n"))),
    DEAD_HEAD_IS_SERVED(
            "an expired member at the head of the queue is granted a permit",
            "redis-kill-waiter",
            6,
            Patch.script("serve", "return count[2] > 0", "return true")),
    LAST_COME_FIRST_SERVED(
            "the queue is served last in, first out",
            "redis-kill-waiter",
            6,
            Patch.script("claim", "now - waited", "waited - now")
                    .and(Patch.script("queued", "now - waited", "waited - now"))),
    GRANT_NOT_COUNTED(
            "members are notified of grants, but the record does not grow",
            "redis-races",
            1,
            Patch.script("serve", "op.used = op.used + target - r.permits\n", "")
                    .and(Patch.script("claim", "op.used = op.used - (r.permits - base)", "op.used = 0"))
                    .and(Patch.script("claims", "used = used - permits + base\n", "used = 0\n"))
                    .and(Patch.script("claims", "used = used - base + target\n", ""))
                    .and(Patch.script("queued", "used = used + base - permits\n", "used = 0\n"))
                    .and(Patch.script(
                            "queued",
                            "used, permits, version = used + most - permits",
                            "used, permits, version = used"))
                    .and(Patch.script("queued", "used, version = used + target - has", "used, version = used"))),
    VERSION_RESTARTS(
            "tokens begin anew whenever the store is emptied or the key vanishes",
            "redis-flushall",
            6,
            Patch.script("serve", "math.max(op.version + 1, op.now)", "op.version + 1")
                    .and(Patch.script("claims", "version < now and now or version + 1", "version + 1"))
                    .and(Patch.script("queued", "math.max(version + 1, now)", "version + 1"))),
    DEADLINE_BEYOND_LEASE(
            "a deadline counted from the answer, and longer than the lease",
            "redis-sigstop",
            6,
            Patch.core("DEADLINE_BEYOND_LEASE")),
    NO_RECHECK("no re-check after a lost notification", "redis-kill-pubsub", 6, Patch.core("NO_RECHECK")),
    CANCEL_LEAKS(
            "a permit that is granted at the moment of a cancel is lost", "redis-races", 4, Patch.core("CANCEL_LEAKS")),
    GROWN_BEFORE_ANSWER(
            "a member takes permits before the store has granted them",
            "redis-kill-holder",
            2,
            Patch.core("GROWN_BEFORE_ANSWER")),
    SHRUNK_AFTER_SENDING(
            "permits are counted as returned only after the return was sent",
            "redis-none",
            2,
            Patch.core("SHRUNK_AFTER_SENDING")),
    TOKEN_IS_VERSION("grants of one version share a token", "redis-none", 1, Patch.core("TOKEN_IS_VERSION"));

    private final String about;
    private final String scenario;
    private final int hits;
    private final Patch patch;

    Planted(String about, String scenario, int hits, Patch patch) {
        this.about = about;
        this.scenario = scenario;
        this.hits = hits;
        this.patch = patch;
    }

    /** What is wrong with it. */
    public String about() {
        return about;
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
