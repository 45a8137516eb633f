package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random histories of one key, by a store that leaves out what need not be written and by one that writes every claim: the
 * members are granted, notified and refused the same, and accept or ignore the same answers and notifications.
 */
class UnwrittenClaimsTest {

    private static final int HISTORIES = 300;
    private static final int EVENTS = 200;
    private static final int MEMBERS = 4;

    /** What the rules prevent. */
    enum Mistake {
        NONE,
        NOTIFICATION_KEEPS_THE_RECORDED_SEQUENCE,
        ANSWER_HAS_A_VERSION_THAT_IS_NOT_WRITTEN,
        DELAYED_CLAIM_TAKES_EFFECT
    }

    @Test
    void membersCannotTellWhetherTheirClaimsAreWritten() {
        int unwritten = 0;
        for (long seed = 0; seed < HISTORIES; seed++) {
            History history = new History(seed, Mistake.NONE);
            history.run();
            unwritten += history.unwritten;
        }
        assertThat(unwritten).isGreaterThan(HISTORIES * 10);
    }

    @Test
    void answerThatANotificationHasOvertakenDoesNotHideTheGrant() {
        LatestVersion latest = new LatestVersion();
        latest.answered(holding(0, 1, 5), 1);
        latest.notified(holding(1, 1, 7));

        assertThat(latest.answered(holding(0, 4, 5), 1)).isEqualTo(holding(1, 4, 7));
        assertThat(latest.notified(holding(1, 1, 7))).isEqualTo(holding(1, 4, 7));
    }

    private static Holding holding(int permits, long sequence, long version) {
        return new Holding(permits, 1, sequence, version, Holding.Others.NONE);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void mistakeIsFound(Mistake mistake) {
        assertThatCode(() -> {
                    for (long seed = 0; seed < HISTORIES; seed++) {
                        new History(seed, mistake).run();
                    }
                })
                .isInstanceOf(AssertionError.class);
    }

    /** What a member has received: the sequence and version that it applied last, as in the core. */
    private static final class Received {

        private long sequence = -1;
        private long version = -1;

        boolean isNews(Holding h) {
            boolean news = h.sequence() != sequence ? h.sequence() > sequence : h.version() > version;
            if (news) {
                sequence = h.sequence();
                version = h.version();
            }
            return news;
        }
    }

    private static final class Peer {

        private final String id;
        private final LatestVersion latest = new LatestVersion();
        private final Received fromReference = new Received();
        private final Received fromStore = new Received();
        private final List<Claim> sent = new ArrayList<>();
        private long arrival;

        Peer(int number) {
            this.id = "peer" + number;
        }
    }

    private static final class History {

        private final Random random;
        private final Mistake mistake;
        private final List<Peer> peers = new ArrayList<>();
        private final KeyTable reference = KeyTable.ofSessions(List.of(), OverrideLimit.empty(), 0);
        private TableSnapshot store = TableSnapshot.EMPTY;
        private long sequence;
        private long clock;
        private int unwritten;

        History(long seed, Mistake mistake) {
            this.random = new Random(seed);
            this.mistake = mistake;
            for (int i = 0; i < MEMBERS; i++) {
                peers.add(new Peer(i));
            }
        }

        void run() {
            for (int i = 0; i < EVENTS; i++) {
                Peer peer = peers.get(random.nextInt(MEMBERS));
                int what = random.nextInt(20);
                if (what == 0) {
                    override(random.nextInt(4) == 0 ? OverrideLimit.empty() : OverrideLimit.of(random.nextInt(4)));
                } else if (what == 1) {
                    leave(peer);
                } else if (what < 4 && !peer.sent.isEmpty()) {
                    delayed(peer, peer.sent.get(random.nextInt(peer.sent.size())));
                } else {
                    Claim next = next(peer);
                    peer.sent.add(next);
                    claim(peer, next);
                }
                assertThat(rows(store.records())).isEqualTo(rows(reference.records()));
            }
        }

        /** Mostly what the member claimed before. */
        private Claim next(Peer peer) {
            sequence++;
            if (!peer.sent.isEmpty() && random.nextInt(4) > 0) {
                return peer.sent.get(peer.sent.size() - 1).sequence(sequence);
            }
            clock++;
            peer.arrival = clock;
            int wanted = random.nextInt(4);
            int held = random.nextInt(wanted + 1);
            return claim(sequence, held, wanted, wanted == 0 ? 0 : 1, wanted > 0 && random.nextInt(4) > 0);
        }

        private static Claim claim(long sequence, int held, int wanted, int unit, boolean queue) {
            return Claim.of("key", sequence, Duration.ofSeconds(15))
                    .limit(3)
                    .wanted(wanted)
                    .held(held)
                    .head(new Claim.Head(unit, Duration.ZERO, queue));
        }

        private void claim(Peer peer, Claim claim) {
            Step expected = reference.claim(peer.id, claim, 0, peer.arrival);
            KeyTable table = store.table();
            Step step = table.claim(peer.id, claim, 0, peer.arrival);
            PlannedCommit<TableSnapshot> planned = planned(peer.id, table, step, Optional.of(claim));
            long stored = store.record(peer.id).map(PermitRecord::version).orElse(0L);
            Holding answer = step.answer().orElseThrow();
            if (planned.isRepetition()) {
                unwritten++;
                if (mistake != Mistake.ANSWER_HAS_A_VERSION_THAT_IS_NOT_WRITTEN) {
                    answer = new Holding(answer.permits(), answer.limit(), answer.sequence(), stored, answer.others());
                }
            } else {
                commit(planned);
            }
            long sequence = store.record(peer.id).map(PermitRecord::sequence).orElse(answer.sequence());
            received(peer, expected.answer().orElseThrow(), peer.latest.answered(answer, sequence));
            served(expected, planned);
        }

        private PlannedCommit<TableSnapshot> planned(String id, KeyTable table, Step step, Optional<Claim> claim) {
            boolean override = !table.override().equals(store.override());
            return new PlannedCommit<>("key", new StoreSession(id, 1), store, table, step, override, claim, true);
        }

        /** A copy of an earlier claim, or one that was overtaken. */
        private void delayed(Peer peer, Claim claim) {
            KeyTable table = store.table();
            Step step = mistake == Mistake.DELAYED_CLAIM_TAKES_EFFECT
                    ? table.claim(peer.id, claim, 0, peer.arrival)
                    : table.refresh(0);
            assertThat(planned(peer.id, table, step, Optional.empty()).isUnchanged())
                    .isTrue();
        }

        private void commit(PlannedCommit<TableSnapshot> planned) {
            if (!planned.isUnchanged()) {
                store = TableSnapshot.of(planned.after());
            }
        }

        private void served(Step expected, PlannedCommit<TableSnapshot> planned) {
            assertThat(planned.step().served().keySet())
                    .isEqualTo(expected.served().keySet());
            planned.step().served().forEach((member, holding) -> {
                Peer other = peers.stream()
                        .filter(p -> p.id.equals(member))
                        .findFirst()
                        .orElseThrow();
                Holding passedOn = mistake == Mistake.NOTIFICATION_KEEPS_THE_RECORDED_SEQUENCE
                        ? holding
                        : other.latest.notified(holding);
                received(other, required(expected.served().get(member)), passedOn);
            });
        }

        private static Holding required(@Nullable Holding holding) {
            if (holding == null) {
                throw new AssertionError("Served another member");
            }
            return holding;
        }

        private static void received(Peer peer, Holding expected, Holding actual) {
            assertThat(actual.permits()).isEqualTo(expected.permits());
            assertThat(actual.sequence()).isEqualTo(expected.sequence());
            assertThat(actual.limit()).isEqualTo(expected.limit());
            assertThat(actual.others().contended()).isEqualTo(expected.others().contended());
            assertThat(actual.others().over()).isEqualTo(expected.others().over());
            assertThat(peer.fromStore.isNews(actual)).isEqualTo(peer.fromReference.isNews(expected));
        }

        private void override(OverrideLimit limit) {
            Step expected = reference.override(limit, 0);
            KeyTable table = store.table();
            PlannedCommit<TableSnapshot> planned = planned("", table, table.override(limit, 0), Optional.empty());
            commit(planned);
            served(expected, planned);
        }

        private void leave(Peer peer) {
            Step expected = reference.remove(peer.id, 0);
            KeyTable table = store.table();
            PlannedCommit<TableSnapshot> planned = planned(peer.id, table, table.remove(peer.id, 0), Optional.empty());
            commit(planned);
            served(expected, planned);
        }

        /** All that is recorded but sequences and versions. */
        private static Map<String, List<Object>> rows(Iterable<PermitRecord> records) {
            Map<String, List<Object>> rows = new TreeMap<>();
            Set<String> seen = new HashSet<>();
            for (PermitRecord r : records) {
                assertThat(seen.add(r.member())).isTrue();
                rows.put(
                        r.member(),
                        List.of(
                                r.permits(),
                                r.wanted(),
                                r.weightOfHead(),
                                r.least(),
                                r.limit(),
                                r.since().isPresent()));
            }
            return rows;
        }
    }
}
