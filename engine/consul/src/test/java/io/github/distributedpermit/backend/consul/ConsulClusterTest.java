package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulCluster;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;

/** Three servers; the leader dies. */
class ConsulClusterTest {

    private static final System.Logger LOG = System.getLogger(ConsulClusterTest.class.getName());

    @Test
    void killedLeaderCostsSecondsAndNoPermit() {
        try (ConsulCluster cluster = ConsulCluster.start()) {
            ConsulServer leader = cluster.leader();
            ConsulServer agent = cluster.follower();
            try (Bench bench = new Bench(agent.address(), agent.probe())) {
                ConsulSettings settings = bench.settings(Optional.empty(), Duration.ofSeconds(30));
                TestMember a = bench.member(settings);
                TestMember b = bench.member(settings);
                patiently().until(() -> a.ask("led", 1, 1, 1).get().permits() == 1);
                patiently().until(() -> b.ask("led", 1, 1, 1).get().permits() == 0);

                leader.kill();
                long killed = System.nanoTime();

                patiently().until(() -> a.ask("led", 1, 0, 0).get().permits() == 0);
                patiently().untilAsserted(() -> assertThat(b.grants()).isNotEmpty());
                LOG.log(
                        System.Logger.Level.INFO,
                        "Service was back after {0} ms",
                        Duration.ofNanos(System.nanoTime() - killed).toMillis());
                assertThat(a.losses()).isZero();
                assertThat(b.losses()).isZero();
                patiently().until(() -> bench.slots("led") == 1);
                patiently().until(() -> b.ask("led", 1, 1, 1).get().permits() == 1);
                patiently().until(() -> a.ask("led", 1, 1, 1).get().permits() == 0);
            }
        }
    }

    /** A loaded machine may elect a leader more than once, and each time claims fail for a while. */
    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptions();
    }
}
