package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One instance with its permits in its own memory, started as the README says. */
class LocalBackendIT {

    private static final int REDIS_PORT = Fleet.freePort();

    @AutoClose
    private static SampleInstance instance;

    @BeforeAll
    static void start() {
        instance = SampleInstance.startPackaged(
                "local",
                "--distributed-permit.backend=local",
                "--distributed-permit.permits.report-export.timeout=500ms",
                "--sample.embedded-redis.port=" + REDIS_PORT);
        instance.awaitWell();
    }

    @Test
    void localBackendNeedsNoRedis() {
        assertThat(instance.health()).isEqualTo("UP");
        assertThat(Fleet.listens(REDIS_PORT)).isFalse();
        Fleet.awaitDrained(instance);
    }

    @Test
    void callThatWaitedInVainIsToldSo() {
        List<CompletableFuture<Answer>> running = Fleet.exportAt(instance, LIMIT, "20s");
        await().atMost(LONG).until(() -> instance.gauge("holders") == LIMIT);

        Answer refused = instance.export(LIMIT, "0s").join();

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.contentType()).startsWith("application/problem+json");
        assertThat(refused.problem()).isEqualTo("timed-out");
        assertThat(Fleet.join(running)).extracting(Answer::status).containsOnly(200);
    }
}
