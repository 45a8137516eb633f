package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
    private static final int HOLD_MILLIS = 300;
    private static final Duration TTL = Duration.ofSeconds(10);

    /** Consul ends a session after twice its TTL at most; the next re-check, the call itself and a busy machine take the rest. */
    private static final Duration RECOVERY = TTL.multipliedBy(2).plusSeconds(20);

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
                "--distributed-permit.lease=" + TTL.toSeconds() + "s",
                // longer than the recovery, which the test bounds itself
                "--distributed-permit.permits.report-export.timeout=90s",
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
        List<Answer> answers = Fleet.join(fleet().export(CALLS, HOLD_MILLIS + "ms"));

        assertThat(answers).extracting(Answer::status).containsOnly(200);
        assertThat(answers.stream().filter(ConsulLayoutLaws::hasWaited))
                .as("calls that waited, of both instances")
                .extracting(answer -> answer.text("instance"))
                .satisfies(instances -> assertThat(Set.copyOf(instances)).hasSize(2));
        assertThat(Execution.mostAtOnce(Fleet.executions(answers))).isEqualTo(LIMIT);
        Fleet.awaitDrained(fleet().first(), fleet().second());
    }

    /** At least for as long as another call held its permit. */
    private static boolean hasWaited(Answer answer) {
        return answer.body().path("waitedMillis").asLong() >= HOLD_MILLIS;
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
