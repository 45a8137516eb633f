package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The step on a snapshot, as stores with sessions use it: build, apply one claim, commit the difference. */
class SessionTableTest {

    private final Map<String, PermitRecord> stored = new HashMap<>();
    private long version;
    private long index = 100;
    private long sequence;

    @Test
    void recordThatNeitherHoldsNorWaitsIsRemovedAtOnceAndStillAnswered() {
        claim("a", 2, 2);

        Step step = claim("a", 2, 0);

        assertThat(step.removed()).containsExactly("a");
        assertThat(step.answer().orElseThrow().permits()).isZero();
        assertThat(stored).isEmpty();
    }

    @Test
    void refusedTryLeavesNothingToCommit() {
        claim("a", 1, 1);

        index++;
        KeyTable table = table();
        Claim attempt = Claim.of("k", 1, Duration.ofSeconds(1)).wanted(1).tried(1);
        Step step = table.claim("b", attempt, index, index);

        assertThat(step.isUnchanged()).isTrue();
        assertThat(step.answer().orElseThrow().permits()).isZero();
    }

    @Test
    void lineRunsInTheOrderTheStoreGives() {
        claim("a", 1, 1);
        claim("b", 1, 1);
        claim("c", 1, 1);

        assertThat(claim("a", 1, 0).served()).containsOnlyKeys("b");
        assertThat(stored).containsOnlyKeys("b", "c");
        assertThat(claim("b", 1, 0).served()).containsOnlyKeys("c");
    }

    @Test
    void deadMembersAreReportedAndTheirPermitsServeTheLine() {
        claim("dead", 1, 1);
        claim("b", 1, 1);
        index++;
        KeyTable table = table();
        table.retain(Set.of("b"));

        Step step = table.refresh(index);

        assertThat(step.removed()).containsExactly("dead");
        assertThat(step.served()).containsOnlyKeys("b");
        assertThat(step.written()).extracting(PermitRecord::member).containsExactly("b");
    }

    @Test
    void deadHeadOfTheLineIsNotServed() {
        claim("a", 1, 1);
        claim("dead", 1, 1);
        claim("c", 1, 1);
        index++;
        KeyTable table = table();
        table.retain(Set.of("a", "c"));

        Step step = table.claim("a", wanting(1, 0), index, index);

        assertThat(step.removed()).containsExactlyInAnyOrder("dead", "a");
        assertThat(step.served()).containsOnlyKeys("c");
    }

    @Test
    void nothingLapsesHoweverFarTheLogHasCome() {
        claim("a", 1, 1);
        claim("b", 1, 1);
        index = Long.MAX_VALUE / 2;

        assertThat(table().refresh(index).isUnchanged()).isTrue();
        assertThat(claim("b", 1, 1).answer().orElseThrow().others().recheckAfter())
                .isEmpty();
    }

    @Test
    void versionGoesOnFromTheStoredOneOrFromTheLog() {
        claim("a", 1, 1);
        assertThat(version).isGreaterThanOrEqualTo(index);
        version = 10_000;

        assertThat(claim("a", 1, 1).answer().orElseThrow().version()).isEqualTo(10_001);
    }

    @Test
    void recordsComeBackFromTheirStoredForm() {
        List<PermitRecord> records = List.of(
                new PermitRecord(
                        "a", 2, 7, 50, 2, 0, 2, 3, OptionalLong.empty(), Claim.Shown.NOTHING, PermitRecord.NEVER),
                new PermitRecord(
                        "b", 0, 9, 51, 2, 2, 2, 3, OptionalLong.of(40), Claim.Shown.NOTHING, PermitRecord.NEVER));

        KeyTable table = KeyTable.ofSessions(records, OverrideLimit.of(4), 51);

        assertThat(table.records()).containsExactlyInAnyOrderElementsOf(records);
        assertThat(table.used()).isEqualTo(2);
        assertThat(table.refresh(60).served().get("b")).satisfies(h -> {
            assertThat(h.permits()).isEqualTo(2);
            assertThat(h.limit()).isEqualTo(4);
        });
    }

    /** Else an instance with long calls would wait for all that another one has waiting. */
    @Test
    void permitsThatAMemberHasDoNotPutItBehindOthersWithItsPosition() {
        int served = 0;
        for (version = 70; version < 170; version++) {
            store("a", 3, 4, 1, 60);
            store("b", 0, 4, 1, 60);
            served += KeyTable.ofSessions(List.copyOf(stored.values()), OverrideLimit.of(4), version)
                            .refresh(version)
                            .served()
                            .containsKey("a")
                    ? 1
                    : 0;
        }
        assertThat(served).isBetween(30, 70);
    }

    @Test
    void noMemberHasTheBetterLotForLong() {
        Random random = new Random(1);
        for (int pair = 0; pair < 200; pair++) {
            PermitRecord one = waiting(new UUID(random.nextLong(), random.nextLong()));
            PermitRecord other = waiting(new UUID(random.nextLong(), random.nextLong()));
            long first = LongStream.range(1_000, 2_000)
                    .filter(version -> Records.inTurn(version).compare(one, other) < 0)
                    .count();
            assertThat(first).isBetween(400L, 600L);
        }
    }

    private static PermitRecord waiting(UUID member) {
        return new PermitRecord(
                member.toString(), 0, 7, 50, 1, 1, 1, 3, OptionalLong.of(60), Claim.Shown.NOTHING, PermitRecord.NEVER);
    }

    /** Served behind others it would never find as many permits free. */
    @Test
    void ofMembersWithOnePositionTheOneWhoseWaiterNeedsMoreIsServed() {
        for (version = 70; version < 90; version++) {
            store("a", 0, 1, 1, 60);
            store("b", 0, 2, 2, 60);
            store("c", 0, 1, 1, 60);

            assertThat(table().refresh(version).served()).containsOnlyKeys("b");
        }
    }

    @Test
    void lotDecidesBetweenMembersWithOnePosition() {
        Map<String, Integer> served = new HashMap<>();
        store("a", 0, 2, 1, 60);
        store("b", 0, 2, 1, 60);
        store("c", 0, 2, 1, 60);

        for (version = 70; version < 100; version++) {
            table().refresh(version).served().keySet().forEach(member -> served.merge(member, 1, Integer::sum));
        }

        assertThat(served)
                .containsOnlyKeys("a", "b", "c")
                .allSatisfy((member, times) -> assertThat(times).isBetween(5, 15));
    }

    /** Its claim may write nothing, so that the version stays the same. */
    @Test
    void eachClaimOfAMemberThatReturnsAPermitDrawsAnotherLot() {
        int kept = 0;
        for (int claim = 0; claim < 100; claim++) {
            version = 70;
            store("a", 1, 1, 1, 60);
            store("b", 0, 1, 1, 60);
            store("c", 1, 1, 1, 60);
            sequence = 10 + claim;
            Claim next = Claim.of("k", sequence, Duration.ofSeconds(1))
                    .limit(2)
                    .wanted(1)
                    .held(0)
                    .queued(1);
            kept += table().claim("a", next, version, 60).served().containsKey("b") ? 0 : 1;
        }
        assertThat(kept).isBetween(30, 70);
    }

    private void store(String member, int permits, int wanted, int weightOfHead, long since) {
        OptionalLong position = wanted > permits ? OptionalLong.of(since) : OptionalLong.empty();
        int least = permits + weightOfHead;
        stored.put(
                member,
                new PermitRecord(
                        member,
                        permits,
                        7,
                        50,
                        wanted,
                        weightOfHead,
                        least,
                        2,
                        position,
                        Claim.Shown.NOTHING,
                        PermitRecord.NEVER));
    }

    private Claim wanting(int limit, int wanted) {
        sequence++;
        return Claim.of("k", sequence, Duration.ofSeconds(1))
                .limit(limit)
                .wanted(wanted)
                .queued(1);
    }

    private Step claim(String member, int limit, int wanted) {
        index++;
        KeyTable table = table();
        Step step = table.claim(member, wanting(limit, wanted), index, index);
        commit(step, table);
        assertThat(stored.values()).containsExactlyInAnyOrderElementsOf(table.records());
        return step;
    }

    private void commit(Step step, KeyTable table) {
        step.removed().forEach(stored::remove);
        step.written().forEach(r -> stored.put(r.member(), r));
        version = table.version();
    }

    private KeyTable table() {
        Collection<PermitRecord> snapshot = List.copyOf(stored.values());
        return KeyTable.ofSessions(snapshot, OverrideLimit.empty(), version);
    }
}
