package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Two instances whose permits are in ZooKeeper. The last test kills one of them. */
@TestMethodOrder(OrderAnnotation.class)
class ZooKeeperIT {

    private static final int CALLS = 40;
    private static final Duration SESSION = Duration.ofSeconds(12);
    private static final int TICK_MILLIS = 1_000;
    private static final int ANY_PORT = -1;
    private static final int MANY_CONNECTIONS = 100;

    /** The rest of a tick, the wait for the next re-check, and a call's own way. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(2);

    @AutoClose
    private static TestingServer server;

    @AutoClose
    private static Fleet fleet;

    @BeforeAll
    static void start() throws Exception {
        InstanceSpec spec =
                new InstanceSpec(null, ANY_PORT, ANY_PORT, ANY_PORT, true, 1, TICK_MILLIS, MANY_CONNECTIONS);
        server = new TestingServer(spec, true);
        fleet = Fleet.start(
                "zookeeper",
                "--distributed-permit.backend=zookeeper",
                "--distributed-permit.zookeeper.connect-string=" + server.getConnectString(),
                "--distributed-permit.lease=" + SESSION.toSeconds() + "s");
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
        Recovery.of(fleet.first(), fleet.second()).assertWithin(SESSION.plus(AFTERWARDS));
    }
}
