package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances whose permits live in Consul. */
class ConsulIT {

    private static final int CALLS = 40;
    private static final Duration TTL = Duration.ofSeconds(10);

    /** Consul waits for twice the TTL, at most; then come the next re-check and a call's own way. */
    private static final Duration RECOVERY = TTL.multipliedBy(2).plusSeconds(1);

    private static Fleet fleet(String layout, String test) {
        return Fleet.start(
                "consul-" + layout + "-" + test,
                "--distributed-permit.backend=consul",
                "--distributed-permit.key-prefix=" + layout + "-" + test,
                "--distributed-permit.consul.layout=" + layout,
                "--distributed-permit.consul.session-ttl=" + TTL.toSeconds() + "s",
                "--spring.cloud.consul.port=" + SharedConsul.get().address().getPort());
    }

    @ParameterizedTest
    @ValueSource(strings = {"slots", "lock-file"})
    void fortyCallsOverTwoInstancesNeverRunMoreThanTheLimitAtOnce(String layout) {
        try (Fleet fleet = fleet(layout, "shared")) {
            List<CompletableFuture<Answer>> calls = fleet.export(CALLS, "300ms");
            await().atMost(LONG).until(() -> fleet.first().gauge("waiters") > 0);
            await().atMost(LONG).until(() -> fleet.second().gauge("waiters") > 0);
            List<Answer> answers = Fleet.join(calls);

            assertThat(answers).extracting(Answer::status).containsOnly(200);
            assertThat(Execution.mostAtOnce(Fleet.executions(answers))).isEqualTo(LIMIT);
            Fleet.awaitDrained(fleet.first(), fleet.second());
        }
    }

    @Test
    void permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl() {
        assertRecovers("slots");
    }

    @Test
    @Tag("slow")
    void permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtlInALockFile() {
        assertRecovers("lock-file");
    }

    private static void assertRecovers(String layout) {
        try (Fleet fleet = fleet(layout, "killed")) {
            Recovery recovery = Recovery.of(fleet.first(), fleet.second());

            assertThat(recovery.startedAt())
                    .filteredOn(
                            startedAt -> !startedAt.isAfter(recovery.killedAt().plus(RECOVERY)))
                    .hasSizeGreaterThanOrEqualTo(LIMIT);
        }
    }
}
