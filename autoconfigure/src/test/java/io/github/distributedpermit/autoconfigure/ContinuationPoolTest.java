package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pool whose tasks may wait for each other. */
class ContinuationPoolTest {

    private static final int BOUND = 64;

    private final AtomicInteger made = new AtomicInteger();
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final ContinuationPool pool = new ContinuationPool(
            task -> {
                made.incrementAndGet();
                Thread thread = new Thread(task);
                thread.setDaemon(true);
                return thread;
            },
            timers);

    @AfterEach
    void stop() {
        pool.shutdown();
        timers.shutdownNow();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void burstThatGoesOnNeedsFewThreads() {
        CountDownLatch done = new CountDownLatch(5_000);
        for (int i = 0; i < 5_000; i++) {
            pool.execute(done::countDown);
        }
        await(done);
        // the bound; where no task ends for a while because the machine is busy, the pool doubles it
        assertThat(made.get()).isLessThanOrEqualTo(4 * BOUND);
    }

    /** More than twice the bound: the pool doubles more than once. */
    @Test
    void taskThatAllOthersWaitForIsRun() {
        int others = 3 * BOUND;
        CountDownLatch last = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(others);
        for (int i = 0; i < others; i++) {
            pool.execute(() -> {
                await(last);
                done.countDown();
            });
        }
        pool.execute(last::countDown);
        await(done);
        assertThat(made.get()).isBetween(others + 1, 4 * BOUND);
    }
}
