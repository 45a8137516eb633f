package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class KilledInstanceIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration NOISE = Duration.ofSeconds(8);

    @Test
    void permitsOfAKilledInstanceServeTheOtherWithinTheLease() {
        int redisPort = Fleet.freePort();
        String[] settings = {
            "--sample.embedded-redis.port=" + redisPort, "--distributed-permit.lease=" + LEASE.toSeconds() + "s"
        };
        // one after the other: the first has started the Redis server, and is the one that dies
        try (SampleInstance doomed = SampleInstance.start("killed-1", settings)) {
            doomed.awaitWell();
            try (SampleInstance other = SampleInstance.start("killed-2", settings)) {
                other.awaitWell();
                Recovery recovery = Recovery.of(doomed, other);

                Instant latest = recovery.killedAt().plus(LEASE).plus(NOISE);
                assertThat(recovery.startedAt())
                        .allSatisfy(startedAt -> assertThat(startedAt).isBetween(recovery.killedAt(), latest));

                other.terminate();
                other.awaitEnd();
                await("the Redis server ends with its last user").atMost(LONG).until(() -> !Fleet.listens(redisPort));
            }
        }
    }
}
