package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that meet the end of the session, or of the member, between the first look and the mailbox of their key. */
class RequestsAtTheEndTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String KEY = "export";

    /** What happens when the test's thread reads the clock next, and the times after that. */
    private final Queue<Runnable> meanwhile = new ConcurrentLinkedQueue<>();

    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    private final Store store = new Store();
    private final SnapshotPermitStore<TableSnapshot> permits = new SnapshotPermitStore<>(
            store, new Member("me", "me"), new SilentCore(), this::time, scheduler, Duration.ofHours(1));

    @BeforeEach
    void session() {
        store.events().ready(new StoreSession("me", 1));
    }

    @AfterEach
    void close() {
        permits.close();
        scheduler.shutdownNow();
    }

    private long time() {
        Runnable event = meanwhile.poll();
        if (event != null) {
            event.run();
        }
        return System.nanoTime();
    }

    @Test
    void overrideFailsInTimeIfTheSessionIsLostBeforeItIsQueued() {
        meanwhile.add(store.events()::lost); // the worker of the key is being created

        CompletableFuture<Void> override =
                permits.override(KEY, OverrideLimit.of(3)).toCompletableFuture();

        await().atMost(SOON).until(override::isDone);
        assertThat(failure(override)).hasMessageContaining("could not be reached");
    }

    @Test
    void claimFailsIfTheMemberLeavesWhileTheWorkerOfItsKeyIsCreated() {
        Thread closing = new Thread(permits::close);
        meanwhile.add(() -> {}); // the claim reads the clock itself
        meanwhile.add(() -> {
            closing.start();
            // It waits for the map of the workers, after it has ended all that it has found there.
            await().atMost(SOON).until(() -> closing.getState() == Thread.State.BLOCKED);
        });
        Claim claim =
                Claim.of(KEY, 1, Duration.ofSeconds(15)).limit(5).wanted(1).queued(1);

        CompletableFuture<Holding> answer = permits.claim(claim).toCompletableFuture();

        await().atMost(SOON).until(answer::isDone);
        assertThat(failure(answer)).hasMessageContaining("has left");
    }

    private static PermitStoreException failure(CompletableFuture<?> future) {
        Throwable failure = PermitStoreException.causeOf(
                future.handle((value, e) -> e == null ? new AssertionError("No failure") : e)
                        .join());
        assertThat(failure).isInstanceOf(PermitStoreException.class);
        return (PermitStoreException) failure;
    }

    private static final class Store implements SnapshotStore<TableSnapshot> {

        private @Nullable StoreEvents events;

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
        public CompletionStage<TableSnapshot> read(String name) {
            return CompletableFuture.completedFuture(TableSnapshot.EMPTY);
        }

        @Override
        public CompletionStage<Commit<TableSnapshot>> commit(PlannedCommit<TableSnapshot> planned) {
            return CompletableFuture.completedFuture(new Commit.Done<>(TableSnapshot.of(planned.after())));
        }

        @Override
        public void close() {}
    }
}
