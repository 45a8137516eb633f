package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulCluster;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.time.Duration;
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
                TestMember a = bench.member();
                TestMember b = bench.member();
                a.queue("led", 1, 1);
                b.queue("led", 1, 1);

                leader.kill();
                long killed = System.nanoTime();

                await().atMost(Duration.ofSeconds(60))
                        .pollInterval(Duration.ofMillis(50))
                        .ignoreExceptions()
                        .until(() -> a.ask("led", 1, 0, 0).get().permits() == 0);
                await().atMost(Duration.ofSeconds(20))
                        .untilAsserted(() -> assertThat(b.grants()).isNotEmpty());
                LOG.log(
                        System.Logger.Level.INFO,
                        "Service was back after {0} ms",
                        Duration.ofNanos(System.nanoTime() - killed).toMillis());
                assertThat(a.losses()).isZero();
                assertThat(b.losses()).isZero();
                assertThat(bench.slots("led")).isEqualTo(1);
                assertThat(b.attempt("led", 1, 1).permits()).isEqualTo(1);
                assertThat(a.attempt("led", 1, 1).permits()).isZero();
            }
        }
    }
}
