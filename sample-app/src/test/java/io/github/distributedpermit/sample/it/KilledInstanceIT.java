package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class KilledInstanceIT {

    private static final Duration LEASE = Duration.ofSeconds(6);

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
                Recovery.of(doomed, other).assertWithin(LEASE);

                other.terminate();
                other.awaitEnd();
                await("the Redis server ends with its last user").atMost(LONG).until(() -> !Fleet.listens(redisPort));
            }
        }
    }
}
