package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.StepFormsTest.Mutant;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.GracedTable;
import io.github.distributedpermit.spi.step.Lineage;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.ServerIdentity;
import io.github.distributedpermit.spi.step.Step;
import io.github.distributedpermit.testsupport.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The three forms of the step side by side on one key each, with one clock. Compares what a step answered, whom it notified
 * and what it stored. Not thread-safe.
 */
final class StepForms implements AutoCloseable {

    static final int MEMBERS = 5;
    static final Duration TOMBSTONE = Duration.ofSeconds(30);
    static final long NEW_SERVER_GRACE = 3_000_000;

    /** Both halves of an epoch differ from those of others. */
    private static final long EPOCHS_APART = 0x1_3001;

    private final ScriptedKey.Server redis;
    private final ScriptedKey slow;
    private final ScriptedKey fast;
    private GracedTable java = new GracedTable(TOMBSTONE);
    private Lineage lineage = new Lineage(NEW_SERVER_GRACE);
    private ServerIdentity identity = identity(1, 1, false, 0);
    private long answered;
    private Effect javaEffect = Effect.NONE;

    /** An hour ahead, so that the expiry of Redis, which has its own clock, removes nothing during a history. */
    private long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.HOURS.toMicros(1);

    StepForms(RedisServer server, Mutant mutant) {
        redis = new ScriptedKey.Server(server);
        String whole = mutant.apply(new String(Script.CLAIMS.source(), StandardCharsets.UTF_8));
        String override = new String(Script.OVERRIDE.get().source(), StandardCharsets.UTF_8);
        String mutated = override.contains(mutant.right()) ? mutant.apply(override) : override;
        fast = redis.key("fast", whole, mutated);
        slow = redis.key("slow", ScriptedKey.slowPathOnly(whole), mutated);
    }

    static String member(int number) {
        return "member-" + number;
    }

    /** Starts a history on a key without state, on a server that has run for long. */
    void startKey() {
        java = new GracedTable(TOMBSTONE);
        lineage = new Lineage(NEW_SERVER_GRACE);
        for (ScriptedKey form : List.of(slow, fast)) {
            form.delete(true, true);
            form.deleteLineage();
        }
        server(1, 1, false, now - TimeUnit.HOURS.toMicros(1));
    }

    /** From now on the server has this epoch and run. */
    void server(long epoch, int run, boolean promoted, long started) {
        identity = identity(epoch, run, promoted, started);
    }

    /** What the server says now: INFO shows how many seconds have begun since that in which it started. */
    private ServerIdentity identified() {
        long start = Math.min(identity.startedAt(), now); // a clock that was set back leads to no negative uptime
        redis.setIdentity(identity.epoch(), identity.run(), identity.promoted(), start, now);
        long started = start / 1_000_000 * 1_000_000;
        return new ServerIdentity(
                identity.epoch(), identity.run(), identity.node(), identity.promoted(), started, Set.of());
    }

    private static ServerIdentity identity(long epoch, int run, boolean promoted, long started) {
        return new ServerIdentity(epoch * EPOCHS_APART, "%016d".formatted(run), "", promoted, started, Set.of());
    }

    /** The server has lost everything. */
    void loseAll() {
        delete(true, true);
        lineage = new Lineage(NEW_SERVER_GRACE);
        slow.deleteLineage();
        fast.deleteLineage();
    }

    long now() {
        return now;
    }

    /** That of the last answer. */
    long epoch() {
        return answered;
    }

    long slowPathCalls() {
        return fast.slowPathCalls();
    }

    void advance(long micros) {
        now += micros;
    }

    /** A record expires at the very microsecond of the next step. */
    void advanceToFirstExpiry() {
        now = java.records().stream()
                .mapToLong(PermitRecord::expiry)
                .filter(expiry -> expiry >= now)
                .min()
                .orElse(now);
    }

    /** @param knownLease the longest lease of any member that the claimer knows of, in microseconds */
    void claim(String member, Claim claim, long knownLease, boolean cluster, boolean graced) {
        long since = now - TimeUnit.MICROSECONDS.convert(claim.head().waited());
        Step step = graced
                ? java.claim(member, claim, now, since, lineage, identified(), knownLease)
                        .orElseThrow()
                : java.claim(member, claim, now, since);
        javaEffect = new Effect(
                step.answer().orElseThrow(), List.copyOf(step.served().entrySet()));
        answered = step.answer().orElseThrow().epoch();
        redis.setClock(now);
        slow.claim(member, claim, knownLease, cluster, graced);
        fast.claim(member, claim, knownLease, cluster, graced);
    }

    /** A claim of another key by a member that remembers data of this epoch. */
    void claimElsewhere(long epoch) {
        Claim claim = Claim.of("other", 1, Duration.ofSeconds(15))
                .wanted(1)
                .reclaim(Claim.Reclaim.of(0, epoch).checking());
        GracedTable other = new GracedTable(TOMBSTONE);
        other.claim("stranger", claim, now, now, lineage, identified(), 0);
        redis.setClock(now);
        slow.claimElsewhere("stranger", claim);
        fast.claimElsewhere("stranger", claim);
    }

    void override(OverrideLimit limit, boolean cluster) {
        Step step = java.override(limit, now, lineage, identified());
        javaEffect = new Effect(null, List.copyOf(step.served().entrySet()));
        redis.setClock(now);
        slow.override(limit, cluster);
        fast.override(limit, cluster);
    }

    /** Deletes the key or, without its sets, its state; the override as well, or not. */
    void delete(boolean whole, boolean override) {
        OverrideLimit stays = override ? OverrideLimit.empty() : java.override();
        java = new GracedTable(TOMBSTONE);
        java.override(stays, now);
        javaEffect = Effect.NONE;
        slow.delete(whole, override);
        fast.delete(whole, override);
    }

    /** What differs between two forms; null if nothing does. */
    @Nullable
    String compare() {
        Map<ScriptedKey, ScriptedKey.Stored> states = new LinkedHashMap<>();
        List.of(slow, fast).forEach(form -> states.put(form, form.read()));
        redis.awaitNotifications();
        for (Map.Entry<ScriptedKey, ScriptedKey.Stored> state : states.entrySet()) {
            ScriptedKey form = state.getKey();
            Effect effect = form.takeEffect();
            String answer = difference(javaEffect.answer, effect.answer);
            if (answer != null) {
                return form.name() + " answered otherwise than Java: " + answer;
            }
            if (javaEffect.notified.size() != effect.notified.size()) {
                return form.name() + " notified " + effect.notified + ", Java " + javaEffect.notified;
            }
            for (int i = 0; i < javaEffect.notified.size(); i++) {
                Map.Entry<String, Holding> expected = javaEffect.notified.get(i);
                Map.Entry<String, Holding> found = effect.notified.get(i);
                if (!expected.getKey().equals(found.getKey())
                        || difference(expected.getValue(), found.getValue()) != null) {
                    return form.name() + " notified " + found + ", Java " + expected;
                }
            }
            long longestLease = state.getValue().longestLease();
            if (longestLease != lineage.longestLease()) {
                return "%s knows a longest lease of %d us, Java %d us"
                        .formatted(form.name(), longestLease, lineage.longestLease());
            }
            if (state.getValue().staysForEver()) {
                return form.name() + " stored a part of the key without an expiry";
            }
            String stored = state.getValue().text(now);
            if (!stored.equals(stored())) {
                return form.name() + " stored " + stored + ", Java " + stored();
            }
        }
        javaEffect = Effect.NONE;
        return null;
    }

    private String stored() {
        Map<String, String> records = java.records().stream()
                .filter(r -> !r.isIdle() || r.expiry() > now)
                .collect(Collectors.toMap(
                        PermitRecord::member,
                        r -> ScriptedKey.text(
                                r.permits(),
                                r.wanted(),
                                r.weightOfHead(),
                                r.least(),
                                r.limit(),
                                r.sequence(),
                                r.version(),
                                r.expiry(),
                                r.since().isPresent(),
                                Math.min(r.shown().waitingBeyondWanted(), ClaimCodec.MOST_WAITING))));
        return ScriptedKey.text(java.used(), java.override(), records, java.grace(now));
    }

    /** Lua knows only a lower bound of when the first lease ends, so its re-check may be due earlier. */
    private static @Nullable String difference(@Nullable Holding expected, @Nullable Holding found) {
        if (expected == null || found == null) {
            return expected == found ? null : found + " instead of " + expected;
        }
        boolean same = expected.permits() == found.permits()
                && expected.limit() == found.limit()
                && expected.sequence() == found.sequence()
                && expected.version() == found.version()
                && expected.others().contended() == found.others().contended()
                && expected.others().over() == found.others().over()
                && expected.epoch() == found.epoch()
                && expected.others().grace() == found.others().grace()
                && expected.others().recheckAfter().isPresent()
                        == found.others().recheckAfter().isPresent()
                && (found.others().recheckAfter().isEmpty()
                        || found.others()
                                        .recheckAfter()
                                        .get()
                                        .compareTo(
                                                expected.others().recheckAfter().orElseThrow())
                                <= 0);
        return same ? null : found + " instead of " + expected;
    }

    @Override
    public void close() {
        redis.close();
    }

    /** What a step answered, and the members it notified, first served first. */
    record Effect(@Nullable Holding answer, List<Map.Entry<String, Holding>> notified) {

        static final Effect NONE = new Effect(null, List.of());
    }
}
