package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two instances on the Redis server that the first of them started. */
class SharedLimitIT {

    private static final int CALLS = 40;

    @AutoClose
    private static Fleet fleet;

    @BeforeAll
    static void start() {
        fleet = Fleet.start("shared-limit", "--sample.embedded-redis.port=" + Fleet.freePort());
    }

    @Test
    void fortyCallsOverTwoInstancesNeverRunMoreThanTheLimitAtOnce() {
        List<CompletableFuture<Answer>> calls = fleet.export(CALLS, "1500ms");

        for (SampleInstance instance : List.of(fleet.first(), fleet.second())) {
            await().atMost(LONG).until(() -> instance.gauge("waiters") > 0);
            await().atMost(LONG).pollInterval(Duration.ofMillis(20)).until(() -> instance.gauge("holders") > 0);
            assertThat(instance.gauge("limit")).isEqualTo(LIMIT);
            Answer refused = instance.exportNow(CALLS, "0s").join();
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.contentType()).startsWith("application/problem+json");
            assertThat(refused.retryAfter()).isEqualTo("1");
            assertThat(refused.problem()).isEqualTo("limit-reached");
        }
        assertThat(calls).as("calls still running").anyMatch(call -> !call.isDone());

        List<Answer> answers = Fleet.join(calls);
        assertThat(answers).extracting(Answer::status).containsOnly(200);
        assertThat(answers).extracting(answer -> answer.text("instance")).hasSize(CALLS);
        assertThat(Execution.mostAtOnce(Fleet.executions(answers))).isEqualTo(LIMIT);
        assertThat(answers.get(CALLS - 1).text("startedAt"))
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z");
        Fleet.awaitDrained(fleet.first(), fleet.second());
    }

    @Test
    void badInputIsExplained() {
        for (String hold : List.of("soon", "-1s", "61s")) {
            Answer refused = fleet.first().export(1, hold).join();
            assertThat(refused.status()).as(hold).isEqualTo(400);
            assertThat(refused.contentType()).startsWith("application/problem+json");
            assertThat(refused.text("detail")).contains("hold");
        }
        assertThat(fleet.first().send("POST", "/reports/seven").join().status()).isEqualTo(400);
    }

    @Test
    void prometheusShowsThePermits() {
        fleet.first().exportNow(1, "0s").join();

        assertThat(fleet.first().get("/actuator/prometheus").body().asString())
                .contains("distributed_permit_holders", "name=\"report-export\"", "distributed_permit_wait_seconds");
    }
}
