package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The step of the protocol has three forms: Java, the Lua slow path, and the Lua fast path. Random histories show that they
 * have the same effect (docs/decisions/0013-three-forms-of-the-step.md), and mutants show that a difference is found.
 */
@ExtendWith(RedisExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class StepFormsTest extends RedisTest {

    private static final int STEPS = 150;

    /** Half as many without {@code -Plong}. */
    private static final int SEEDS = Boolean.getBoolean("tests.long") ? 24 : 12;

    /** The histories in which some mutant shows that none before it in this list shows. */
    private static final List<Long> TELLING_SEEDS = List.of(1L, 2L, 3L, 51L, 9L, 4L, 5L, 8L, 19L, 25L, 27L, 35L, 45L);

    private static final int MOST_SEEDS = 48;

    private final RedisServer server;

    StepFormsTest(RedisServer server) {
        this.server = server;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void allFormsHaveTheSameEffectInFixedHistories(int third) {
        for (long seed = 1 + third; seed <= SEEDS; seed += 3) {
            assertThat(difference(seed, Mutant.NONE))
                    .as("history of seed %d", seed)
                    .isNull();
        }
    }

    @Test
    void allFormsHaveTheSameEffectInANewHistory() {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("StepFormsTest: new history of seed " + seed);

        assertThat(difference(seed, Mutant.NONE)).as("history of seed %d", seed).isNull();
    }

    @Test
    void allFormsHaveTheSameEffectIfTheClockOfTheServerIsSetBack() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertThat(differenceOfSetBack(seed, Mutant.NONE))
                    .as("history of seed %d", seed)
                    .isNull();
        }
    }

    @Test
    void allFormsHaveTheSameEffectOnAKeyThatIsUsedNowAndThen() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertThat(differenceOfRareUse(seed, Mutant.NONE))
                    .as("history of seed %d", seed)
                    .isNull();
        }
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("StepFormsTest: new history of rare use of seed " + seed);
        assertThat(differenceOfRareUse(seed, Mutant.NONE))
                .as("history of seed %d", seed)
                .isNull();
    }

    /** The slow path of one key and the fast path of another one both write the lineage. */
    @Test
    void aNewServerStaysKnownIfAnotherClaimOfTheCommandBeginsAWindowOfLeases() {
        assertThat(isNewServerKnown(Mutant.NONE)).isTrue();
        assertThat(isNewServerKnown(new Mutant("a lineage is read once", "lineage = nil --", "--")))
                .as("with a script that reads the lineage once")
                .isFalse();
    }

    private boolean isNewServerKnown(Mutant mutant) {
        Duration lease = Duration.ofHours(1);
        long start = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.HOURS.toMicros(1);
        try (ScriptedKey.Server redis = new ScriptedKey.Server(server)) {
            ScriptedKey key = redis.key(
                    "together",
                    mutant.apply(new String(Script.CLAIMS.source(), StandardCharsets.UTF_8)),
                    new String(Script.OVERRIDE.get().source(), StandardCharsets.UTF_8));
            redis.setIdentity(0x1_3001, "1".repeat(16), false, start - TimeUnit.HOURS.toMicros(2), start);
            redis.setClock(start);
            key.claim("member-0", claim("key", 1, 0, lease), 0, false, true);
            redis.setClock(start + TimeUnit.MINUTES.toMicros(50));
            key.claim("member-0", claim("key", 2, 1, lease), 0, false, true);
            long before = key.lineageEpoch();

            long now = start + TimeUnit.MINUTES.toMicros(61);
            redis.setIdentity(0x2_6002, "2".repeat(16), true, start, now);
            redis.setClock(now);
            key.claimTogether("member-0", claim("other", 3, 0, lease), claim("key", 4, 1, lease));
            return key.lineageEpoch() != before;
        }
    }

    private static Claim claim(String key, long sequence, int validlyHeld, Duration lease) {
        return Claim.of(key, sequence, lease).wanted(1).queued(1).reclaim(Claim.Reclaim.of(validlyHeld, 0));
    }

    @ParameterizedTest
    @MethodSource("mutantsAboutRareUse")
    void aDifferenceIsFoundOnAKeyThatIsUsedNowAndThen(Mutant mutant) {
        String found = LongStream.rangeClosed(1, MOST_SEEDS)
                .mapToObj(seed -> differenceOfRareUse(seed, mutant))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No history shows the mutant: " + mutant.name()));

        assertThat(found).contains("step");
    }

    @ParameterizedTest
    @MethodSource("mutantsAboutTheClock")
    void aDifferenceIsFoundIfTheClockOfTheServerIsSetBack(Mutant mutant) {
        String found = LongStream.rangeClosed(1, MOST_SEEDS)
                .mapToObj(seed -> differenceOfSetBack(seed, mutant))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No history shows the mutant: " + mutant.name()));

        assertThat(found).contains("step");
    }

    @Test
    void bothPathsOfTheScriptAreTaken() {
        try (StepForms forms = new StepForms(server, Mutant.NONE)) {
            int claims = 0;
            for (long seed = 1; seed <= 4; seed++) {
                claims += new StepHistory(seed, forms).run(STEPS).claims();
            }
            assertThat(forms.slowPathCalls()).isBetween(claims / 5L, claims * 9L / 10);
        }
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void aDifferenceIsFound(Mutant mutant) {
        String found = Stream.concat(
                        TELLING_SEEDS.stream(),
                        LongStream.rangeClosed(1, MOST_SEEDS).boxed())
                .distinct()
                .map(seed -> difference(seed, mutant))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No history shows the mutant: " + mutant.name()));

        assertThat(found).contains("step");
    }

    private @Nullable String difference(long seed, Mutant mutant) {
        try (StepForms forms = new StepForms(server, mutant)) {
            return new StepHistory(seed, forms).run(STEPS).difference();
        }
    }

    private @Nullable String differenceOfRareUse(long seed, Mutant mutant) {
        try (StepForms forms = new StepForms(server, mutant)) {
            return new StepHistory(seed, forms).usedNowAndThen().run(STEPS).difference();
        }
    }

    private @Nullable String differenceOfSetBack(long seed, Mutant mutant) {
        try (StepForms forms = new StepForms(server, mutant)) {
            return new StepHistory(seed, forms).clockSetBack().run(STEPS).difference();
        }
    }

    static Stream<Mutant> mutantsAboutTheClock() {
        return Stream.of(
                new Mutant(
                        "fast: a time ahead of the clock stays", "checked < since or since > now", "checked < since"),
                new Mutant(
                        "slow: a time ahead of the clock stays",
                        "local set_back = l.since > now",
                        "local set_back = false"),
                new Mutant("slow: a grace of before lasts", "if start > op.now then", "if false then"));
    }

    static Stream<Mutant> mutantsAboutRareUse() {
        return Stream.of(
                new Mutant(
                        "fast: an override outlives its key",
                        "call('EXISTS', state, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4]) > 0",
                        "false"),
                new Mutant("fast: an expired holder counts", "(first_lease <= now and used > permits)", "false"),
                new Mutant(
                        "fast: no grace for a key that may be lost",
                        "if since + math.max(lease, stated, before, unpack('<d', ARGV[3])) > now then",
                        "if false then"),
                new Mutant(
                        "fast: the version goes back with a key",
                        "version = unpack('<d', claims, from + 57)",
                        "version = 0"),
                new Mutant("fast: a stated lease is forgotten", "if now >= window_end then --", "if false then --"),
                new Mutant(
                        "fast: a new member never expires",
                        "if bound <= due then",
                        "if bound <= due and bound > 0 then"),
                new Mutant("fast: a new set never expires", "elseif bound == 0 then --", "elseif false then --"),
                new Mutant(
                        "fast: another lease ends before that of a new member",
                        "first = first < expiry and first or expiry",
                        "first = expiry"));
    }

    static Stream<Mutant> mutants() {
        return List.of(
                new Mutant("fast: half a weight is granted", "target >= base + weight_of_head", "target >= base"),
                new Mutant("fast: a repeated claim counts", "sequence <= last or", "sequence < last or"),
                new Mutant(
                        "fast: a grant has no version",
                        "permits = target\n        version = version + 1",
                        "permits = target"),
                new Mutant("fast: an override is ignored", "override >= 0 and override or own", "own"),
                new Mutant(
                        "fast: the queue is ignored",
                        "    if queued > 0 then\n      view",
                        "    if false then\n      view"),
                new Mutant(
                        "queued: no permit is returned",
                        "math.min(permits, held, wanted)",
                        "math.min(permits, wanted)"),
                new Mutant("queued: half a weight is granted", "most >= base + weight_of_head", "most >= base"),
                new Mutant("queued: half a weight is granted to another", "or target < least", ""),
                new Mutant("queued: the claimer passes the queue", "not name or score < arrived", "true"),
                new Mutant("queued: the claimer comes last", "not name or score < arrived", "not name"),
                new Mutant("queued: a weight above the limit blocks", " or (most > 0 and weight > most)", ""),
                new Mutant(
                        "queued: a head that waits is passed",
                        "head = name\n      break\n",
                        "left = left - 1\n      position = position + 1\n"),
                new Mutant("queued: no notification", "call('PUBLISH', s.channel", "pack('s', s.channel"),
                new Mutant("queued: a served member stays queued", "call('ZREM', queue, s.name)", "pack('s', s.name)"),
                new Mutant(
                        "queued: a try passes the queue",
                        "if queued > 0 and used < limit then\n    return",
                        "if false then\n    return"),
                new Mutant("queued: another limit joins", "if compares and stated ~= own then", "if false then"),
                new Mutant(
                        "queued: another limit joins as the head",
                        "if compares and name and (not behind",
                        "if false and (not behind"),
                new Mutant("queued: an override is ignored", "override < 0 and own or override", "own"),
                new Mutant(
                        "queued: the override of another is ignored", "override < 0 and stated or override", "stated"),
                new Mutant(
                        "queued: the lease of another member counts",
                        "local expiry = now + lasts",
                        "local expiry = now + lasts + 1"),
                new Mutant(
                        "queued: waiting calls are forgotten",
                        "if waiting and waiting_beyond_wanted > 0 then",
                        "if false then"),
                new Mutant(
                        "fast: another lease that ends first is not looked at",
                        "first = alone and expiry or",
                        "first = expiry or"),
                new Mutant("fast: no permit is returned", "if held < base then", "if held < 0 then"),
                new Mutant("slow: half a weight is granted", "target < r.least", "target < 0"),
                new Mutant(
                        "fast: a change of the server is not noticed",
                        "if server_epoch ~= epoch then",
                        "if false then"),
                new Mutant("fast: a loss that another key shows is not noticed", "checked < since or ", ""),
                new Mutant(
                        "slow: a loss that another key shows is not noticed",
                        "op.checked < l.since and not l.virgin",
                        "false"),
                new Mutant(
                        "slow: held instead of validly held",
                        "had = math.max(had, validly_held)",
                        "had = math.max(had, held)"),
                new Mutant(
                        "slow: a claim from before reclaims",
                        "op.grace and lineage and known_epoch == op.epoch",
                        "op.grace"),
                new Mutant("slow: the pool is no bound", "op.grace and math.min(most, op.grace.pool) or most", "most"),
                new Mutant("slow: records of another epoch stay", "    forget()\n", ""),
                new Mutant("slow: the same run is enough", "l.run == own.run and not own.promoted", "l.run == own.run"),
                new Mutant(
                        "slow: who remembers is not asked",
                        "if l.virgin and known_epoch ~= 0 and",
                        "if false and known_epoch ~= 0 and"),
                new Mutant("slow: a weight above the limit blocks", "return limit(r) > 0 and", "return false and"),
                new Mutant("slow: a try passes the queue", "if try and fits(lacking, limit(r)) then", "if try then"),
                new Mutant("slow: a head that waits is passed", "math.max(lacking, lacks(r))", "0"),
                new Mutant("slow: a heavy head is passed", "math.max(1, r.least - r.permits)", "1"),
                new Mutant("slow: a crossed claim is passed", "r.least > r.wanted and math.huge or ", ""),
                new Mutant(
                        "slow: a lower limit blocks",
                        "math.max(op.highest, r.limit, last and last.limit or 0)",
                        "r.limit"),
                new Mutant("slow: another limit joins", "    compare_limits(member, own)\n", ""),
                new Mutant(
                        "slow: different limits are forgotten",
                        "op.highest = highest > lowest and highest or 0",
                        "op.highest = 0"),
                new Mutant("slow: no notification", "op.served[#op.served + 1] = member", ""),
                new Mutant(
                        "slow: the lease of another member counts",
                        "r.expiry = now + lease",
                        "r.expiry = now + lease + 1"),
                new Mutant("slow: the youngest is first", "now - waited, member", "waited - now, member"),
                new Mutant("slow: an expired record counts", "op.used = op.used - r.permits\n", ""))
                .stream();
    }

    /** A change of the script: some text, which must be there once, is replaced. */
    record Mutant(String name, String right, String wrong) {

        static final Mutant NONE = new Mutant("none", "", "");

        String apply(String script) {
            if (right.isEmpty()) {
                return script;
            }
            assertThat(script.split(java.util.regex.Pattern.quote(right), -1))
                    .as(name)
                    .hasSize(2);
            return script.replace(right, wrong);
        }
    }
}
