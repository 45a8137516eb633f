package io.github.distributedpermit.sample.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ten threads for requests, a hundred clients that want permits all the time, and a store that accepts and never answers. */
class SilentStoreIT {

    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(4);
    /** Less than 40 s, for which a request would wait if the clients before it kept the ten threads for a store time-out each. */
    private static final Duration NOISE = Duration.ofSeconds(25);

    private static final int CLIENTS = 100;
    private static final Executor LATER = CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS);

    private final AtomicBoolean over = new AtomicBoolean();
    private final ConcurrentLinkedQueue<Integer> statuses = new ConcurrentLinkedQueue<>();
    private final RedisServer redis = RedisServer.started();

    @AfterEach
    void stopRedis() {
        redis.close(); // a stopped process ends as well
    }

    @Test
    void healthStillAnswersWhileAllCallsWaitForTheStore() throws Exception {
        try (SampleInstance instance = SampleInstance.start(
                "silent",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redis.port(),
                "--server.tomcat.threads.max=10",
                "--distributed-permit.defaults.store-timeout=" + STORE_TIMEOUT.toSeconds() + "s",
                "--distributed-permit.permits.report-export.timeout=10m")) {
            instance.awaitWell();
            assertThat(instance.export(1, "1ms").join().status()).isEqualTo(200);

            signal("STOP");
            List<CompletableFuture<Void>> clients =
                    Stream.generate(() -> client(instance)).limit(CLIENTS).toList();
            // the calls of the first ten threads wait for the store time-out, once; all others fail at once
            assertHealthIsDownWithin(instance, STORE_TIMEOUT.plus(NOISE));
            for (int i = 0; i < 5; i++) {
                assertHealthIsDownWithin(instance, NOISE);
            }
            await().atMost(Fleet.LONG).until(() -> statuses.size() > CLIENTS);
            assertThat(statuses).as("answers to clients").containsOnly(503);

            signal("CONT");
            await("permits are back").atMost(Fleet.LONG).until(() -> statuses.contains(200));
            over.set(true);
            clients.forEach(CompletableFuture::join);
            await().atMost(Fleet.LONG).until(() -> instance.health().equals("UP"));
        }
    }

    private static void assertHealthIsDownWithin(SampleInstance instance, Duration patience) {
        assertThat(instance.send("GET", "/actuator/health").orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS))
                .succeedsWithin(patience)
                .satisfies(answer -> assertThat(answer.status()).isEqualTo(503));
    }

    /** Asks again soon after it is answered; a hundred clients that never pause would use up the processors of the instance. */
    private CompletableFuture<Void> client(SampleInstance instance) {
        return instance.export(7, "1ms")
                .thenAccept(answer -> statuses.add(answer.status()))
                .thenComposeAsync(
                        added -> over.get() ? CompletableFuture.completedFuture(null) : client(instance), LATER);
    }

    private void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(redis.pid()))
                .inheritIO()
                .start()
                .waitFor();
    }
}
