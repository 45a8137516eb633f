package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Two instances whose permits are in Consul, in the layout of the subclass. The last test kills one of them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
abstract class ConsulLayoutLaws {

    private static final int CALLS = 40;
    private static final Duration TTL = Duration.ofSeconds(10);

    /** Consul ends a session after twice its TTL at most; the next re-check and the call itself take the rest. */
    private static final Duration RECOVERY = TTL.multipliedBy(2).plusSeconds(1);

    private final String layout;
    private @Nullable Fleet fleet;

    ConsulLayoutLaws(String layout) {
        this.layout = layout;
    }

    @BeforeAll
    void start() {
        fleet = Fleet.start(
                "consul-" + layout,
                "--distributed-permit.backend=consul",
                "--distributed-permit.key-prefix=" + layout,
                "--distributed-permit.consul.layout=" + layout,
                "--distributed-permit.consul.session-ttl=" + TTL.toSeconds() + "s",
                "--spring.cloud.consul.port=" + SharedConsul.get().address().getPort());
    }

    @AfterAll
    void stop() {
        if (fleet != null) {
            fleet.close();
        }
    }

    private Fleet fleet() {
        return Objects.requireNonNull(fleet);
    }

    @Test
    void fortyCallsOverTwoInstancesNeverRunMoreThanTheLimitAtOnce() {
        List<CompletableFuture<Answer>> calls = fleet().export(CALLS, "300ms");
        await().atMost(LONG).until(() -> fleet().first().gauge("waiters") > 0);
        await().atMost(LONG).until(() -> fleet().second().gauge("waiters") > 0);
        List<Answer> answers = Fleet.join(calls);

        assertThat(answers).extracting(Answer::status).containsOnly(200);
        assertThat(Execution.mostAtOnce(Fleet.executions(answers))).isEqualTo(LIMIT);
        Fleet.awaitDrained(fleet().first(), fleet().second());
    }

    @Test
    @Order(Integer.MAX_VALUE)
    void permitsOfAKilledInstanceServeTheOtherWithinTwiceTheTtl() {
        Recovery recovery = Recovery.of(fleet().first(), fleet().second());

        assertThat(recovery.startedAt())
                .filteredOn(startedAt -> !startedAt.isAfter(recovery.killedAt().plus(RECOVERY)))
                .hasSizeGreaterThanOrEqualTo(LIMIT);
    }
}
