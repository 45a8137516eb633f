package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Two instances whose permits are in the PostgreSQL that the sample brings along. The last test kills one of them. */
@TestMethodOrder(OrderAnnotation.class)
class DatabaseIT {

    private static final int CALLS = 40;
    private static final Duration LEASE = Duration.ofSeconds(6);

    /** The interval in which instances look for expired ones, the wait for the next poll, and a call's own way. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(2);

    private static final int PORT = Fleet.freePort();

    @AutoClose
    private static Fleet fleet;

    @BeforeAll
    static void start() {
        fleet = Fleet.start(
                "database",
                "--distributed-permit.backend=jdbc",
                "--sample.embedded-postgres.port=" + PORT,
                "--distributed-permit.lease=" + LEASE.toSeconds() + "s");
    }

    @Test
    void fortyCallsOverTwoInstancesNeverRunMoreThanTheLimitAtOnce() {
        List<Answer> answers = Fleet.join(fleet.export(CALLS, "300ms"));

        assertThat(answers).extracting(Answer::status).containsOnly(200);
        assertThat(Execution.mostAtOnce(Fleet.executions(answers))).isEqualTo(LIMIT);
        Fleet.awaitDrained(fleet.first(), fleet.second());
    }

    @Test
    @Order(Integer.MAX_VALUE)
    void permitsOfAKilledInstanceServeTheOtherWhenItsSessionEnds() {
        Recovery.of(fleet.first(), fleet.second()).assertWithin(LEASE.plus(AFTERWARDS));

        fleet.second().terminate();
        fleet.second().awaitEnd();
        await("the database ends with its last user").atMost(LONG).until(() -> !Fleet.listens(PORT));
    }
}
