package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.Grace;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A store that has lost its state while a session goes on. A permit that the core has not reclaimed is free when the grace ends, so
 * no renewal may prolong it.
 */
class ReclaimTest {

    private static final String KEY = "export";
    private static final String ME = "me";
    private static final long FIRST = 1;
    private static final long SECOND = 2;

    private final AtomicLong clock = new AtomicLong();
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
    private final Store store = new Store();
    private final Core core = new Core();
    private final SnapshotPermitStore<State> permits =
            new SnapshotPermitStore<>(store, new Member(ME, ME), core, clock::get, scheduler, Duration.ofHours(1));
    private long sequence;

    @BeforeEach
    void session() {
        store.events.get(0).ready(new StoreSession(ME, 1));
    }

    @AfterEach
    void close() {
        permits.close();
        scheduler.shutdownNow();
    }

    private StoreEvents events() {
        return store.events.get(0);
    }

    /** A claim for all that is held, and one more if a call waits. */
    private Holding claim(int wanted, int kept, long epoch) {
        return permits.claim(Claim.of(KEY, ++sequence, Duration.ofSeconds(15))
                        .limit(3)
                        .wanted(wanted)
                        .queued(1)
                        .reclaim(Claim.Reclaim.of(kept, epoch)))
                .toCompletableFuture()
                .join();
    }

    private void loseState() {
        store.state = new State(List.of(), 10, SECOND, true, 0);
        events().moved(SECOND);
    }

    @Test
    void noRenewalReachesTheCoreBeforeItHasReclaimed() {
        assertThat(claim(2, 0, 0).permits()).isEqualTo(2);
        loseState();
        assertThat(core.reachable).isEqualTo(1);

        events().alive(1);
        assertThat(core.alive).isEmpty();

        // A claim that was on its way is of the epoch before: nothing comes back.
        Holding unaware = claim(2, 2, FIRST);
        assertThat(unaware.permits()).isZero();
        assertThat(unaware.epoch()).isEqualTo(SECOND);
        assertThat(unaware.others().grace()).isTrue();
        assertThat(core.changed).containsExactly(KEY); // so that it claims again
        events().alive(2);
        assertThat(core.alive).isEmpty();

        assertThat(claim(2, 2, SECOND).permits()).isEqualTo(2);
        events().alive(3);
        assertThat(core.alive).containsExactly(3L);
    }

    @Test
    void keyThatHoldsNothingDelaysNoRenewal() {
        assertThat(claim(1, 0, 0).permits()).isEqualTo(1);
        assertThat(claim(0, 0, FIRST).permits()).isZero();

        loseState();
        events().alive(1);

        assertThat(core.alive).containsExactly(1L);
    }

    /** Otherwise all keys would lose theirs. */
    @Test
    void keyThatIsNotReclaimedInTimeLosesItsPermits() {
        assertThat(claim(2, 0, 0).permits()).isEqualTo(2);
        loseState();

        clock.addAndGet(Store.SESSION.toNanos() / 2);
        events().alive(1);

        assertThat(core.alive).containsExactly(1L);
        assertThat(core.granted)
                .singleElement()
                .satisfies(holding -> assertThat(holding.permits()).isZero());
    }

    @Test
    void lostSessionHasNothingToReclaim() {
        assertThat(claim(2, 0, 0).permits()).isEqualTo(2);
        loseState();

        events().lost();
        events().alive(1);

        assertThat(core.alive).containsExactly(1L);
    }

    /** As long as the grace lasts, only what came back may be granted. */
    @Test
    void graceGrantsOnlyWhatCameBack() {
        assertThat(claim(2, 0, 0).permits()).isEqualTo(2);
        loseState();

        assertThat(claim(3, 2, SECOND).permits()).isEqualTo(2);

        store.state = new State(store.state.records(), store.state.version(), SECOND, false, 0);
        assertThat(claim(3, 2, SECOND).permits()).isEqualTo(3);
    }

    private record State(List<PermitRecord> records, long version, long epoch, boolean grace, int pool)
            implements Snapshot {

        @Override
        public KeyTable table() {
            OptionalLong end = grace ? OptionalLong.of(version + 1_000_000) : OptionalLong.empty();
            return KeyTable.ofSessions(records, OverrideLimit.empty(), version, Grace.ofSessions(epoch, end, pool));
        }

        @Override
        public Optional<PermitRecord> record(String member) {
            return records.stream().filter(r -> r.member().equals(member)).findFirst();
        }

        State with(KeyTable after) {
            return new State(List.copyOf(after.records()), after.version(), epoch, grace, after.pool());
        }
    }

    /** In memory; answers at once. */
    private static final class Store implements SnapshotStore<State> {

        static final Duration SESSION = Duration.ofSeconds(15);

        final List<StoreEvents> events = new ArrayList<>();
        State state = new State(List.of(), 1, FIRST, false, 0);

        @Override
        public void open(StoreEvents layer) {
            events.add(layer);
        }

        @Override
        public Duration session() {
            return SESSION;
        }

        @Override
        public CompletionStage<State> read(String key) {
            return CompletableFuture.completedFuture(state);
        }

        @Override
        public CompletionStage<Commit<State>> commit(PlannedCommit<State> planned) {
            if (!planned.before().equals(state)) {
                return CompletableFuture.completedFuture(new Commit.Conflict<>());
            }
            state = state.with(planned.after());
            return CompletableFuture.completedFuture(new Commit.Done<>(state));
        }

        @Override
        public void close() {}
    }

    private static final class Core implements HoldingListener {

        final List<Long> alive = new ArrayList<>();
        final List<String> changed = new ArrayList<>();
        final List<Holding> granted = new ArrayList<>();
        int reachable;

        @Override
        public void granted(String key, Holding holding) {
            granted.add(holding);
        }

        @Override
        public void changed(String key) {
            changed.add(key);
        }

        @Override
        public void alive(long sentAtNanos) {
            alive.add(sentAtNanos);
        }

        @Override
        public void lost() {}

        @Override
        public void reachable() {
            reachable++;
        }
    }
}
