package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** More permits of one member, and so more sessions, than Consul takes connections from a client. */
class LockFileCrowdTest {

    private static final int LIMIT = 500;
    private static final int PERMITS = 420;
    private static final String USUAL_LIMITS = "limits { http_max_conns_per_client = 200 }";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void hundredsOfSessionsAreMadeAndRenewed() {
        try (ConsulServer server = ConsulServer.start("-hcl", USUAL_LIMITS);
                Bench bench = new Bench(server.address(), server.probe())) {
            TestMember a = bench.member(bench.settings(ConsulLayout.LOCK_FILE, Duration.ofSeconds(2)));

            assertThat(a.attempt("crowd", LIMIT, PERMITS).permits()).isEqualTo(PERMITS);

            assertThat(bench.sessions(a)).hasSize(PERMITS);
            int before = a.signs();
            await().atMost(PATIENCE).until(() -> a.signs() >= before + 2);
            assertThat(a.losses()).isZero();
            assertThat(a.keep("crowd", LIMIT, PERMITS).permits()).isEqualTo(PERMITS);
        }
    }
}
