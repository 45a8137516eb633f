package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;

/** Two instances on an external Redis server, which stops and is started again while calls wait. Both tests share them. */
class StoreOutageIT {

    private static final String LEASE = "--distributed-permit.lease=1h";

    private static final int PORT = Fleet.freePort();

    private static @Nullable Fleet fleet;

    @TempDir
    private Path directory;

    private RedisServer redis;

    @BeforeEach
    void start() throws IOException {
        startRedis();
        if (fleet == null) {
            fleet = Fleet.start("outage", settings());
        }
        fleet.awaitHealth("UP");
    }

    @AfterEach
    void stopRedis() throws IOException {
        redis.stop();
    }

    @AfterAll
    static void stopFleet() {
        if (fleet != null) {
            fleet.close();
            fleet = null; // a repeated test starts another one
        }
    }

    private static Fleet fleet() {
        return Objects.requireNonNull(fleet);
    }

    @Test
    void restartWithItsDataBreaksNoLimitAndLosesNoPermit() throws IOException {
        Fleet fleet = fleet();
        List<CompletableFuture<Answer>> running = Fleet.exportAt(fleet.first(), LIMIT, "42s");
        List<CompletableFuture<Answer>> waiting = awaitWaiters(fleet);

        redis.stop();
        assertFailureIsNamed(fleet);
        startRedis();

        fleet.awaitHealth("UP");
        assertThat(running).as("exports that outlast the outage").noneMatch(CompletableFuture::isDone);
        assertNothingBroken(fleet, Fleet.join(running), Fleet.join(waiting));
    }

    @Test
    void restartWithoutDataLosesNoPermitOnceRunningCallsHaveEnded() throws IOException {
        Fleet fleet = fleet();
        List<CompletableFuture<Answer>> running = Fleet.exportAt(fleet.first(), LIMIT, "22s");
        List<CompletableFuture<Answer>> waiting = awaitWaiters(fleet);

        redis.stop();
        assertFailureIsNamed(fleet);
        List<Answer> finished = Fleet.join(running);
        Files.delete(directory.resolve("appendonly.aof"));
        startRedis();

        fleet.awaitHealth("UP");
        assertNothingBroken(fleet, finished, Fleet.join(waiting));
    }

    private List<CompletableFuture<Answer>> awaitWaiters(Fleet fleet) {
        await().atMost(LONG).until(() -> fleet.first().gauge("holders") == LIMIT);
        List<CompletableFuture<Answer>> waiting = fleet.export(6, "100ms");
        await().atMost(LONG)
                .until(() ->
                        fleet.first().gauge("waiters") == 3 && fleet.second().gauge("waiters") == 3);
        return waiting;
    }

    private static void assertFailureIsNamed(Fleet fleet) {
        Answer failed = fleet.second().exportNow(7, "0s").join();
        assertThat(failed.status()).isEqualTo(503);
        assertThat(failed.contentType()).startsWith("application/problem+json");
        assertThat(failed.problem()).isEqualTo("permit-store-failed");
        fleet.awaitHealth("DOWN");
    }

    private static void assertNothingBroken(Fleet fleet, List<Answer> finished, List<Answer> waited) {
        assertThat(finished).extracting(Answer::status).containsOnly(200);
        // the outage is shorter than the time-out of those that wait, so it costs them nothing but time
        assertThat(waited).extracting(Answer::status).containsOnly(200);
        assertThat(Execution.mostAtOnce(Fleet.executions(finished, waited))).isEqualTo(LIMIT);
        Fleet.awaitDrained(fleet.first(), fleet.second());
    }

    private static String[] settings() {
        return new String[] {
            "--spring.data.redis.host=127.0.0.1",
            "--spring.data.redis.port=" + PORT,
            "--distributed-permit.permits.report-export.timeout=80s",
            "--distributed-permit.defaults.store-timeout=80s",
            LEASE,
            "--distributed-permit.redis.grace=false" // it would last for the lease
        };
    }

    private void startRedis() throws IOException {
        redis = RedisServer.newRedisServer()
                .port(PORT)
                .bind("127.0.0.1")
                .setting("dir " + directory)
                .setting("save \"\"")
                .setting("appendonly yes")
                .setting("appendfsync always")
                .build();
        redis.start();
    }
}
