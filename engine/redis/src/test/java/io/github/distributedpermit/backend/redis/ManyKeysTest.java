package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Many keys, each used once by the real core on a real server, leave nothing on either side: 10,000, and 100,000 with
 * {@code -Plong}.
 */
class ManyKeysTest {

    private static final int KEYS = Boolean.getBoolean("tests.long") ? 100_000 : 10_000;
    private static final int AT_ONCE = 512;
    private static final long SLACK = 24L << 20;

    private static final CoreSettings SETTINGS = CoreSettings.DEFAULTS.toBuilder()
            .lease(Duration.ofSeconds(6))
            .commandTimeout(Duration.ofSeconds(1))
            .maxKeys(KEYS + 1) // and the one that warms up
            .build();

    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
    private final Scheduler scheduler = (task, delay) -> {
        ScheduledFuture<?> timer = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    };

    @Test
    void keysUsedOnceLeaveNothingInTheProcessAndInRedis() throws Exception {
        try (RedisServer server = RedisServer.started()) {
            useAllKeys(server, KEYS);
        }
    }

    @Test
    void norDoTheyIfTheServerIsAwayMeanwhile() throws Exception {
        try (RedisServer server = RedisServer.started()) {
            useAllKeys(server, KEYS / 2);
        }
    }

    private void useAllKeys(RedisServer server, int lostAfter) throws Exception {
        timers.setRemoveOnCancelPolicy(true);
        LettuceConnectionFactory factory = server.connectionFactory();
        RedisSettings settings =
                new RedisSettings("many", Duration.ofSeconds(1), Duration.ofSeconds(5)).withGrace(Duration.ZERO);
        var callbacks = Executors.newSingleThreadExecutor();
        PermitEngine engine = new PermitEngine(
                new RedisPermitBackend(factory, settings, System::nanoTime),
                new Member("many", "many"),
                SETTINGS,
                PermitSettings.NONE,
                Map.of("once", PermitSettings.ofLimit(3)),
                CoreEnvironment.of(System::nanoTime, scheduler, callbacks, callbacks, Observers.NONE));
        try {
            NamedPermits permits = engine.named("once");
            permits.acquire("warm").release();
            long before = usedHeap();
            AtomicInteger rejected = new AtomicInteger();
            AtomicInteger failed = new AtomicInteger();
            Semaphore room = new Semaphore(AT_ONCE);
            for (int i = 0; i < KEYS; i++) {
                if (i == lostAfter) {
                    server.stop();
                }
                room.acquire();
                permits.acquireAsync(PermitRequest.of("key-" + i).withoutWaiting())
                        .whenComplete((permit, failure) -> ended(permit, failure, rejected, failed, room));
            }
            room.acquire(AT_ONCE);
            if (lostAfter < KEYS) {
                assertThat(failed.get()).as("calls that met no server").isPositive();
                server.start();
            } else {
                // if the machine stops for longer than the command time-out, some calls fail
                assertThat(failed.get()).as("calls without an answer").isLessThan(KEYS / 4);
            }
            assertThat(rejected.get())
                    .as("calls that were rejected although each has a key of its own")
                    .isZero();
            await().atMost(Duration.ofMinutes(2)).until(() -> engine.keys() == 0);
            await().atMost(Duration.ofMinutes(2)).until(() -> keysIn(server) == 0);
            assertThat(timers.getQueue()).isEmpty();
            await().atMost(Duration.ofMinutes(1)).until(() -> usedHeap() < before + SLACK);
        } finally {
            engine.close();
            callbacks.shutdown();
            timers.shutdownNow();
            factory.destroy();
        }
    }

    private static void ended(
            @Nullable Permit permit,
            @Nullable Throwable failure,
            AtomicInteger rejected,
            AtomicInteger failed,
            Semaphore room) {
        if (permit != null) {
            permit.release();
        } else if (failure instanceof PermitBackendException) {
            failed.incrementAndGet();
        } else {
            rejected.incrementAndGet();
        }
        room.release();
    }

    /** Without the readable name of the member, which stays as long as the member does. */
    private static long keysIn(RedisServer server) {
        return server.<Long>ask(redis -> redis.keys("*").stream()
                .filter(key -> !key.contains(":name:") && !key.endsWith(":lineage"))
                .count());
    }

    private static long usedHeap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
