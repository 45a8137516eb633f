package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class KilledInstanceIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration NOISE = Duration.ofSeconds(4);

    @Test
    void permitsOfAKilledInstanceServeTheOtherWithinTheLease() {
        int redisPort = Fleet.freePort();
        String[] settings = {
            "--sample.embedded-redis.port=" + redisPort,
            "--distributed-permit.lease=" + LEASE.toSeconds() + "s",
            "--distributed-permit.command-timeout=1s"
        };
        // one after the other: the first has started the Redis server, and is the one that dies
        try (SampleInstance doomed = SampleInstance.start("killed-1", settings)) {
            doomed.awaitWell();
            try (SampleInstance other = SampleInstance.start("killed-2", settings)) {
                other.awaitWell();
                List<CompletableFuture<Answer>> lost = Fleet.exportAt(doomed, LIMIT, "60s");
                await().atMost(LONG).until(() -> doomed.gauge("holders") == LIMIT);
                List<CompletableFuture<Answer>> waiting = Fleet.exportAt(other, LIMIT + 1, "100ms");
                await().atMost(LONG).until(() -> other.gauge("waiters") == LIMIT + 1);

                Instant killedAt = Instant.now();
                doomed.kill();

                List<Answer> served = Fleet.join(waiting);
                assertThat(served).extracting(Answer::status).containsOnly(200);
                assertThat(Fleet.executions(served))
                        .extracting(Execution::startedAt)
                        .allSatisfy(startedAt -> assertThat(startedAt)
                                .isBetween(killedAt, killedAt.plus(LEASE).plus(NOISE)));
                assertThat(Execution.mostAtOnce(Fleet.executions(served))).isLessThanOrEqualTo(LIMIT);
                assertThat(lost).allMatch(CompletableFuture::isCompletedExceptionally);
                Fleet.awaitDrained(other);

                other.terminate();
                other.awaitEnd();
                await("the Redis server ends with its last user").atMost(LONG).until(() -> !Fleet.listens(redisPort));
            }
        }
    }
}
