package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.OnStoreFailure;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A Redis that is stopped and keeps its connections: calls end all the same, whatever accepted time-outs are combined. */
class SilentRedisTest extends RedisTest {

    /** Lease, store time-out and command time-out in milliseconds. */
    private static final long[][] COMBINATIONS = {
        {15_000, 10_000, 2_000},
        {3_000, 10_000, 1_000},
        {6_000, 10_000, 2_000},
        {3_000, 10_000, 200},
        {3_000, 3_000, 1_000},
        {3_000, 1_000, 1_000},
        {6_000, 2_000, 2_000},
        {1_500, 8_000, 500},
        {600, 5_000, 200},
        {30_000, 5_000, 5_000},
    };

    private final RedisServer server = open(RedisServer.started("--save", ""));
    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
    private final Scheduler scheduler = (task, delay) -> {
        ScheduledFuture<?> timer = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    };

    @Test
    void noCallWaitsForASilentServerLongerThanItsTimeOutsSay() throws Exception {
        open(timers::shutdownNow);
        List<PermitEngine> engines = new ArrayList<>();
        for (long[] times : COMBINATIONS) {
            engines.add(engine(times));
        }
        for (PermitEngine engine : engines) {
            for (OnStoreFailure how : List.of(OnStoreFailure.FAIL, OnStoreFailure.ALLOW, OnStoreFailure.LOCAL)) {
                await().ignoreExceptionsInstanceOf(PermitBackendException.class)
                        .untilAsserted(() ->
                                engine.named(how.name()).acquire("warm-" + how).release());
            }
        }
        List<Call> calls = new ArrayList<>();
        signal("-STOP");
        try {
            for (int i = 0; i < engines.size(); i++) {
                PermitEngine engine = engines.get(i);
                for (int key = 0; key < 5; key++) {
                    calls.add(call(engine, OnStoreFailure.FAIL, PermitRequest.of("silent-" + i + "-" + key)));
                }
                calls.add(call(engine, OnStoreFailure.ALLOW, PermitRequest.of("allowed-" + i)));
                calls.add(call(engine, OnStoreFailure.LOCAL, PermitRequest.of("shared-" + i)));
                calls.add(call(
                        engine,
                        OnStoreFailure.FAIL,
                        PermitRequest.of("patient-" + i).withTimeout(Duration.ofMinutes(5))));
                calls.add(call(
                        engine,
                        OnStoreFailure.FAIL,
                        PermitRequest.of("try-" + i).withoutWaiting()));
            }
            // the server is silent until the last call has ended
            await().untilAsserted(() ->
                    assertThat(calls).filteredOn(call -> !call.future.isDone()).isEmpty());
        } finally {
            signal("-CONT");
        }
        for (Call call : calls) {
            if (call.how == OnStoreFailure.ALLOW) {
                call.future.get().release();
            } else if (call.how == OnStoreFailure.FAIL) {
                assertThat(call.future)
                        .as("%s", call.request)
                        .failsWithin(Duration.ZERO)
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(PermitBackendException.class);
            }
        }
    }

    private PermitEngine engine(long[] times) {
        CoreSettings settings = CoreSettings.DEFAULTS.toBuilder()
                .lease(Duration.ofMillis(times[0]))
                .permits(PermitSettings.builder()
                        .storeTimeout(Duration.ofMillis(times[1]))
                        .build())
                .commandTimeout(Duration.ofMillis(times[2]))
                .build();
        LettuceConnectionFactory factory = factory(server);
        String id = "%d-%d-%d".formatted(times[0], times[1], times[2]);
        PermitEngine engine = new PermitEngine(
                new RedisPermitBackend(
                        factory,
                        new RedisSettings(
                                        "silent",
                                        Duration.ofSeconds(30),
                                        Duration.ofSeconds(5),
                                        Duration.ofMillis(times[2]))
                                .withGrace(Duration.ZERO),
                        System::nanoTime),
                new Member(id, id),
                settings,
                PermitSettings.NONE,
                Map.of(
                        "FAIL",
                        on(OnStoreFailure.FAIL),
                        "ALLOW",
                        on(OnStoreFailure.ALLOW),
                        "LOCAL",
                        on(OnStoreFailure.LOCAL)),
                CoreEnvironment.of(System::nanoTime, scheduler, Runnable::run, Runnable::run, Observers.NONE));
        return open(engine);
    }

    private static PermitSettings on(OnStoreFailure how) {
        return PermitSettings.builder().limit(50).onStoreFailure(how).build();
    }

    private static Call call(PermitEngine engine, OnStoreFailure how, PermitRequest request) {
        return new Call(how, request, engine.named(how.name()).acquireAsync(request));
    }

    private void signal(String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", signal, Long.toString(server.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private record Call(OnStoreFailure how, PermitRequest request, CompletableFuture<Permit> future) {}
}
