package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An Error thrown by what the layer calls ends that call only: the requests behind it are executed, and answered. */
class CallbackErrorsTest {

    private static final String KEY = "export";
    private static final String MEMBER = "me";
    private static final Duration IDLE = Duration.ofHours(1);

    private final AtomicLong clock = new AtomicLong();
    private final Turns turns = new Turns();
    private final Store store = new Store();
    private final BrokenCore core = new BrokenCore();
    private final SnapshotPermitStore<TableSnapshot> permits =
            new SnapshotPermitStore<>(store, new Member(MEMBER, MEMBER), core, clock::get, turns, IDLE);

    @BeforeEach
    void session() {
        store.events().ready(new StoreSession(MEMBER, 1));
    }

    @AfterEach
    void close() {
        store.answers.clear();
        store.events().lost();
        permits.close();
        turns.shutdownNow();
    }

    @Test
    void nextClaimIsSentAfterANotificationThatTheCoreCouldNotTakeIn() {
        CompletableFuture<Holding> first = claim(1, 1);
        CompletableFuture<Holding> second = claim(2, 2);
        store.events().served(KEY, new Holding(1, 5, LatestVersion.NO_SEQUENCE, 99, Holding.Others.NONE));

        store.succeed();

        assertThat(core.errors).isEqualTo(1);
        assertThat(first).isCompletedWithValueMatching(h -> h.permits() == 1);
        store.succeed();
        assertThat(second).isCompletedWithValueMatching(h -> h.permits() == 2);
    }

    @Test
    void nextClaimIsSentAfterAFailureAndANotificationThatTheCoreCouldNotTakeIn() {
        CompletableFuture<Holding> first = claim(1, 1);
        CompletableFuture<Holding> second = claim(2, 2);
        store.events().served(KEY, new Holding(1, 5, LatestVersion.NO_SEQUENCE, 99, Holding.Others.NONE));

        store.loseTheAnswer();

        assertThat(core.errors).isEqualTo(1);
        assertThat(first).isCompletedExceptionally();
        store.succeed();
        assertThat(second).isCompletedWithValueMatching(h -> h.permits() == 2);
    }

    /** Its change may arrive later, and the permits that it takes would be in use by no call. */
    @Test
    void claimThatFollowsOneOfUnknownOutcomeIsWrittenAlthoughItChangesNothing() {
        claim(1, 1);
        store.loseTheAnswer();

        giveBack(2);

        assertThat(store.answers).hasSize(1);
        store.succeed();
        giveBack(3);
        assertThat(store.answers).isEmpty();
    }

    /** The layer repeats a claim of unknown outcome by itself, so that nothing but the listener receives the answer. */
    @Test
    void nextClaimIsSentAfterARepeatedOneWhoseGrantTheCoreCouldNotTakeIn() {
        claim(1, 1);
        store.loseTheAnswer();
        clock.addAndGet(TimeUnit.SECONDS.toNanos(3));
        turns.run();
        CompletableFuture<Holding> second = claim(2, 2);

        store.succeed();

        assertThat(core.errors).isEqualTo(1);
        store.succeed();
        assertThat(second).isCompletedWithValueMatching(h -> h.permits() == 2);
    }

    @Test
    void lossOfPermitsThatTheCoreCouldNotTakeInMakesItClaimAgain() {
        claim(1, 1);
        store.succeed();

        store.events().reduced(KEY, 0);

        assertThat(core.errors).isEqualTo(1);
        assertThat(core.changed).containsExactly(KEY);
    }

    /** As after an error in a callback of the store's client, which is neither caught nor logged. */
    @Test
    void requestThatTheStoreNeverCompletesBlocksItsKeyForAMinuteAtMost() {
        CompletableFuture<Holding> first = claim(1, 1);
        store.forgetTheAnswer();
        CompletableFuture<Holding> second = claim(2, 2);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(59));
        turns.run();
        assertThat(first).isNotDone();

        clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
        turns.run();

        assertThat(first).isCompletedExceptionally();
        store.succeed();
        assertThat(second).isCompletedWithValueMatching(h -> h.permits() == 2);
    }

    /** The key is not released again, since a late answer could not be told from that to another release. */
    @Test
    void releaseThatTheStoreNeverCompletesBlocksItsKeyForAMinuteAtMost() {
        claim(1, 1);
        store.succeed();
        giveBack(2);
        store.succeed();
        clock.addAndGet(IDLE.toNanos());
        turns.run();
        assertThat(store.releases).hasSize(1);
        CompletableFuture<Holding> next = claim(3, 1);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(59));
        turns.run();
        assertThat(store.answers).isEmpty();

        clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
        turns.run();

        store.succeed();
        assertThat(next).isCompletedWithValueMatching(h -> h.permits() == 1);
        store.releases.remove().complete(Set.of(KEY)); // late: the member holds a permit again
        giveBack(4);
        store.succeed();
        assertThat(claim(5, 1)).isNotDone();
        store.succeed();
    }

    /** The store that reports it goes on: it renews the session, or creates the next one. */
    @Test
    void storeReceivesNoErrorOfTheCore() {
        core.sessionErrors = true;

        assertThatNoException().isThrownBy(() -> store.events().alive(1));
        assertThatNoException().isThrownBy(store.events()::lost);

        assertThat(core.errors).isEqualTo(2);
        core.sessionErrors = false;
    }

    private void giveBack(long sequence) {
        permits.claim(Claim.of(KEY, sequence, Duration.ofSeconds(15)).limit(5));
    }

    private CompletableFuture<Holding> claim(long sequence, int wanted) {
        Claim claim = Claim.of(KEY, sequence, Duration.ofSeconds(15))
                .limit(5)
                .wanted(wanted)
                .queued(1);
        return permits.claim(claim).toCompletableFuture();
    }

    /** The periodic check of all workers, which would repair what is stuck a second later, runs when the test says so. */
    private static final class Turns extends ScheduledThreadPoolExecutor {

        private final List<Runnable> periodic = new ArrayList<>();

        Turns() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initial, long delay, TimeUnit unit) {
            periodic.add(task);
            return schedule(() -> {}, 0, unit);
        }

        /** What the layer does soon, it does behind the present event. */
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        void run() {
            periodic.forEach(Runnable::run);
        }
    }

    /** In memory; each commit is answered when the test says so. */
    private static final class Store implements SnapshotStore<TableSnapshot> {

        private final Queue<Runnable> answers = new ArrayDeque<>();
        private final Queue<Runnable> losses = new ArrayDeque<>();
        private final Queue<CompletableFuture<Set<String>>> releases = new ArrayDeque<>();
        private @Nullable StoreEvents events;
        private TableSnapshot key = TableSnapshot.EMPTY;

        StoreEvents events() {
            if (events == null) {
                throw new IllegalStateException("Not opened");
            }
            return events;
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
        public CompletionStage<Set<String>> release(Set<String> keys) {
            CompletableFuture<Set<String>> release = new CompletableFuture<>();
            releases.add(release);
            return release;
        }

        @Override
        public CompletionStage<TableSnapshot> read(String name) {
            return CompletableFuture.completedFuture(key);
        }

        @Override
        public CompletionStage<Commit<TableSnapshot>> commit(PlannedCommit<TableSnapshot> planned) {
            CompletableFuture<Commit<TableSnapshot>> commit = new CompletableFuture<>();
            answers.add(() -> {
                key = TableSnapshot.of(planned.after());
                commit.complete(new Commit.Done<>(key));
            });
            losses.add(() -> commit.complete(
                    new Commit.OutcomeUnknown<>(PermitStoreException.passing("The answer was lost", null))));
            return commit;
        }

        void succeed() {
            losses.remove();
            answers.remove().run();
        }

        void loseTheAnswer() {
            answers.remove();
            losses.remove().run();
        }

        void forgetTheAnswer() {
            answers.remove();
            losses.remove();
        }

        @Override
        public void close() {}
    }

    /** Its stack is full whenever it is notified of a holding. */
    private static final class BrokenCore implements HoldingListener {

        private final List<String> changed = new ArrayList<>();
        private int errors;
        /** Whether it is also full when it receives events of the session. */
        private boolean sessionErrors;

        @Override
        public void granted(String key, Holding holding) {
            errors++;
            throw new StackOverflowError("made by the test");
        }

        @Override
        public void changed(String key) {
            changed.add(key);
        }

        @Override
        public void alive(long sentAtNanos) {
            received();
        }

        @Override
        public void lost() {
            received();
        }

        private void received() {
            if (sessionErrors) {
                errors++;
                throw new StackOverflowError("made by the test");
            }
        }
    }
}
