package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A return that no other member waits for is sent by the thread of the scheduler. A claim that comes before that thread is free
 * is merged with it, and then nothing has to be written. Here the test decides when the thread of the scheduler is free.
 */
class ReturnAndNextClaimTest {

    private static final String KEY = "export";
    private static final String ME = "me";
    private static final String OTHER = "other";

    private final Turns turns = new Turns();
    private final Store store = new Store();
    private final SnapshotPermitStore<TableSnapshot> permits = new SnapshotPermitStore<>(
            store, new Member(ME, ME), new Core(), new AtomicLong()::incrementAndGet, turns, Duration.ofHours(1));
    private long sequence;

    @BeforeEach
    void session() {
        store.events().ready(new StoreSession(ME, 1));
    }

    @AfterEach
    void close() {
        permits.close();
        turns.shutdownNow();
    }

    @Test
    void returnAndClaimAtOnceAreOneReadAndNoWrite() {
        CompletableFuture<Holding> first = claim(1);
        store.forgetCounts();

        CompletableFuture<Holding> returned = giveBack(0);
        assertThat(store.requests()).isEqualTo("reads 0, commits 0");
        CompletableFuture<Holding> next = claim(1);
        turns.run();

        assertThat(store.requests()).isEqualTo("reads 1, commits 0");
        assertThat(store.permits()).isEqualTo(Map.of(ME, 1));
        assertThat(returned).isCompletedWithValue(answer(next));
        assertThat(answer(next).permits()).isEqualTo(1);
        assertThat(answer(next).sequence()).isEqualTo(sequence);
        assertThat(answer(next).version()).isEqualTo(answer(first).version());
    }

    @Test
    void loopWritesOnlyItsFirstClaimAndItsLastReturn() {
        claim(1);
        for (int pair = 0; pair < 10; pair++) {
            giveBack(0);
            assertThat(answer(claim(1)).permits()).isEqualTo(1);
        }
        giveBack(0);
        turns.run();

        assertThat(store.requests()).isEqualTo("reads 10, commits 2");
        assertThat(store.permits()).isEmpty();
    }

    @Test
    void returnOfOnePermitAndClaimOfAnotherKeepTheOthers() {
        claim(3);
        store.forgetCounts();

        giveBack(2);
        giveBack(1);
        CompletableFuture<Holding> next = claim(2);
        turns.run();

        assertThat(answer(next).permits()).isEqualTo(2);
        assertThat(store.permits()).isEqualTo(Map.of(ME, 2));
        assertThat(store.requests()).isEqualTo("reads 0, commits 1");
    }

    @Test
    void returnAloneIsSentByTheSchedulerWithoutADelay() {
        claim(1);
        store.forgetCounts();

        CompletableFuture<Holding> returned = giveBack(0);
        assertThat(store.requests()).isEqualTo("reads 0, commits 0");
        turns.run();

        assertThat(answer(returned).permits()).isZero();
        assertThat(store.permits()).isEmpty();
        assertThat(store.requests()).isEqualTo("reads 0, commits 1");
        assertThat(turns.delayed).isZero();
    }

    @Test
    void nextReturnIsSentAsWell() {
        for (int pair = 0; pair < 2; pair++) {
            claim(1);
            giveBack(0);
            turns.run();
        }

        assertThat(store.permits()).isEmpty();
        assertThat(store.requests()).isEqualTo("reads 0, commits 4");
    }

    @Test
    void returnIsSentAtOnceIfAnotherMemberWaits() {
        claim(3);
        store.other(1);
        claim(3); // the answer says that another member is queued
        store.forgetCounts();

        giveBack(2);

        assertThat(store.permits()).isEqualTo(Map.of(ME, 2, OTHER, 1));
    }

    @Test
    void returnIsSentAtOnceIfTheSnapshotIsNotKnown() {
        claim(1);
        store.events().outdated(KEY);
        store.forgetCounts();

        giveBack(0);

        assertThat(store.permits()).isEmpty();
        assertThat(store.requests()).isEqualTo("reads 1, commits 1");
    }

    @Test
    void returnIsSentAsSoonAsAnotherMemberIsKnownToHaveChangedTheKey() {
        claim(3);
        giveBack(2);
        store.other(1);

        store.events().outdated(KEY);

        assertThat(store.permits()).isEqualTo(Map.of(ME, 2, OTHER, 1));
    }

    @Test
    void returnIsSentAsSoonAsTheKeyHasChangedWithoutANotification() {
        claim(3);
        giveBack(2);
        store.other(1);

        store.events().changed(KEY);

        assertThat(store.permits()).isEqualTo(Map.of(ME, 2, OTHER, 1));
    }

    @Test
    void closingReturnsWhatTheReturnWouldHave() {
        claim(1);
        CompletableFuture<Holding> returned = giveBack(0);

        permits.close();

        assertThat(store.permits()).isEmpty();
        assertThat(returned).isCompletedExceptionally();
    }

    @Test
    void returnIsSentAtOnceIfTheSchedulerTakesNoTasksAnyMore() {
        claim(1);
        turns.shutdown();

        CompletableFuture<Holding> returned = giveBack(0);

        assertThat(answer(returned).permits()).isZero();
        assertThat(store.permits()).isEmpty();
    }

    @Test
    void endOfTheSessionEndsTheReturn() {
        claim(1);
        CompletableFuture<Holding> returned = giveBack(0);
        store.forgetCounts();

        store.events().lost();
        turns.run();

        assertThat(returned).isCompletedExceptionally();
        assertThat(store.requests()).isEqualTo("reads 0, commits 0");
    }

    @Test
    void memberThatHasBegunToWaitIsServedBeforeTheNextClaim() {
        claim(2);
        claim(3);
        CompletableFuture<Holding> returned = giveBack(2);
        store.other(1);
        store.forgetCounts();

        CompletableFuture<Holding> next = claim(3);
        turns.run();

        assertThat(store.permits()).isEqualTo(Map.of(ME, 2, OTHER, 1));
        assertThat(answer(next).permits()).isEqualTo(2);
        assertThat(answer(next).others().contended()).isFalse();
        assertThat(returned).isCompletedWithValue(answer(next));
        assertThat(store.requests()).isEqualTo("reads 1, commits 1");
        assertThat(store.record(ME).isQueued()).isTrue();
    }

    @Test
    void memberThatHasTakenAFreePermitKeepsIt() {
        claim(1);
        giveBack(0);
        store.other(2);
        store.forgetCounts();

        CompletableFuture<Holding> next = claim(1);
        turns.run();

        assertThat(store.permits()).isEqualTo(Map.of(ME, 1, OTHER, 2));
        assertThat(answer(next).permits()).isEqualTo(1);
        assertThat(store.requests()).isEqualTo("reads 1, commits 0");
    }

    /** The other member changes the key between the reading of the merged claim and its commit. */
    @Test
    void mergedClaimThatMeetsAConflictIsComputedAgain() {
        claim(2);
        giveBack(1);
        store.beforeNextCommit = () -> store.other(2);
        store.forgetCounts();

        CompletableFuture<Holding> next = claim(3);
        turns.run();

        assertThat(store.permits()).isEqualTo(Map.of(ME, 1, OTHER, 2));
        assertThat(answer(next).permits()).isEqualTo(1);
        assertThat(store.record(ME).isQueued()).isTrue();
        assertThat(store.requests()).isEqualTo("reads 1, commits 2");
    }

    private static Holding answer(CompletableFuture<Holding> claim) {
        assertThat(claim).isCompleted();
        return claim.join();
    }

    /** Claims for one call more than are in use. */
    private CompletableFuture<Holding> claim(int wanted) {
        return send(wanted, 1);
    }

    /** What the core sends when a call has ended and no other one waits. */
    private CompletableFuture<Holding> giveBack(int left) {
        return send(left, 0);
    }

    private CompletableFuture<Holding> send(int wanted, int unit) {
        return permits.claim(claim(++sequence, wanted, unit)).toCompletableFuture();
    }

    private static Claim claim(long sequence, int wanted, int unit) {
        return Claim.of(KEY, sequence, Duration.ofSeconds(15))
                .limit(3)
                .wanted(wanted)
                .queued(unit);
    }

    /** A scheduler whose thread is free when the test says so. */
    private static final class Turns extends ScheduledThreadPoolExecutor {

        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private int delayed;

        Turns() {
            super(1);
        }

        @Override
        public void execute(Runnable task) {
            if (isShutdown()) {
                getRejectedExecutionHandler().rejectedExecution(task, this);
            }
            tasks.add(task);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            delayed++;
            return super.schedule(task, delay, unit);
        }

        void run() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    /** In memory; answers at once. */
    private static final class Store implements SnapshotStore<TableSnapshot> {

        private @Nullable StoreEvents events;
        private TableSnapshot key = TableSnapshot.EMPTY;
        private Runnable beforeNextCommit = () -> {};
        private int reads;
        private int commits;

        StoreEvents events() {
            if (events == null) {
                throw new IllegalStateException("Not opened");
            }
            return events;
        }

        String requests() {
            return "reads %d, commits %d".formatted(reads, commits);
        }

        void forgetCounts() {
            reads = 0;
            commits = 0;
        }

        /** Another member claims, directly in the store. */
        void other(int wanted) {
            KeyTable table = key.table();
            long now = key.version();
            table.claim(OTHER, claim(1, wanted, 1), now, now + 1);
            key = TableSnapshot.of(table);
        }

        PermitRecord record(String member) {
            return key.record(member).orElseThrow();
        }

        /** How many permits each member has. */
        Map<String, Integer> permits() {
            return key.records().stream()
                    .filter(r -> r.permits() > 0)
                    .collect(Collectors.toMap(PermitRecord::member, PermitRecord::permits));
        }

        @Override
        public void open(StoreEvents layer) {
            events = layer;
        }

        @Override
        public Duration session() {
            return Duration.ofSeconds(15);
        }

        @Override
        public TableSnapshot assumedUnused(String name) {
            return TableSnapshot.EMPTY;
        }

        @Override
        public CompletionStage<TableSnapshot> read(String name) {
            reads++;
            return CompletableFuture.completedFuture(key);
        }

        @Override
        public CompletionStage<Commit<TableSnapshot>> commit(PlannedCommit<TableSnapshot> planned) {
            commits++;
            Runnable before = beforeNextCommit;
            beforeNextCommit = () -> {};
            before.run();
            if (!planned.before().equals(key)) {
                return CompletableFuture.completedFuture(new Commit.Conflict<>());
            }
            key = TableSnapshot.of(planned.after());
            return CompletableFuture.completedFuture(new Commit.Done<>(key));
        }

        @Override
        public void close() {}
    }

    private static final class Core implements HoldingListener {

        @Override
        public void granted(String key, Holding holding) {}

        @Override
        public void changed(String key) {}

        @Override
        public void alive(long sentAtNanos) {}

        @Override
        public void lost() {}
    }
}
