package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A continuation carries a permit, which must not be lost when the process can make no more threads. */
class ContinuationExecutorTest {

    private static final Executor NO_THREAD = task -> {
        throw new OutOfMemoryError("unable to create native thread");
    };

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void stop() {
        timers.shutdownNow();
    }

    @Test
    void withoutAThreadOfTheLibraryTheExecutorStillGetsTheContinuation() {
        List<Runnable> taken = new ArrayList<>();
        CountDownLatch ran = new CountDownLatch(1);
        ContinuationExecutor executor = new ContinuationExecutor(taken::add, NO_THREAD, timers);
        assertThatNoException().isThrownBy(() -> executor.execute(ran::countDown));
        assertThat(taken).hasSize(1);
        taken.get(0).run();
        assertThat(ran.getCount()).isZero();
    }

    @Test
    void continuationThatFindsNoThreadIsTriedAgain() throws InterruptedException {
        Queue<Executor> library = new ArrayDeque<>(List.of(Runnable::run, NO_THREAD, Runnable::run));
        CountDownLatch ran = new CountDownLatch(1);
        Executor discards = task -> {};
        new ContinuationExecutor(discards, task -> library.remove().execute(task), timers).execute(ran::countDown);
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(library).isEmpty();
    }

    @Test
    void continuationRunsThoughNoMemoryIsLeftForItsTimer() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        ScheduledExecutorService full = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                throw new OutOfMemoryError("Java heap space");
            }
        };
        Executor library = CompletableFuture::runAsync; // which keeps its error to itself, as a pool does
        new ContinuationExecutor(Runnable::run, library, full).execute(ran::countDown);
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
    }
}
