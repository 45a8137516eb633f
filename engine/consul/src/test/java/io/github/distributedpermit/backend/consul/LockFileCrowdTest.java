package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More permits of one member, and so more sessions, than Consul takes connections from a client. */
@Tag("slow")
class LockFileCrowdTest {

    private static final int LIMIT = 500;
    private static final int PERMITS = 420;
    private static final int KEYS = 100;
    private static final String USUAL_LIMITS = "limits { http_max_conns_per_client = 200 }";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void keysThatNeedSessionsAtOnceShareThemAndUnusedOnesEnd() {
        AtomicLong later = new AtomicLong();
        try (Bench bench = new Bench(
                        SharedConsul.get().address(), SharedConsul.get().probe());
                TestMember a = new TestMember(new ConsulPermitBackend(
                        bench.settings(ConsulLayout.LOCK_FILE, Bench.REQUEST_TIMEOUT),
                        () -> System.nanoTime() + later.get()))) {
            a.queue("kept", 3, 2);
            a.queue("first", 3, 3);
            List<CompletableFuture<Holding>> answers = IntStream.range(0, KEYS)
                    .mapToObj(i -> a.ask("key-" + i, 6, 5, 1))
                    .toList();
            answers.forEach(
                    answer -> assertThat(TestMember.answer(answer).permits()).isEqualTo(5));
            assertThat(bench.sessions(a)).hasSize(5);

            a.keep("first", 3, 0);
            IntStream.range(0, KEYS).forEach(i -> a.keep("key-" + i, 6, 0));
            later.set(ConsulSettings.SHORTEST_TTL.toNanos());

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(bench.sessions(a)).hasSize(2));
            assertThat(a.losses()).isZero();
            assertThat(a.keep("kept", 3, 2).permits()).isEqualTo(2);
            assertThat(a.queue("first", 3, 3).permits()).isEqualTo(3);
        }
    }

    @Test
    void hundredsOfSessionsAreMadeAndRenewed() {
        try (ConsulServer server = ConsulServer.start("-hcl", USUAL_LIMITS);
                Bench bench = new Bench(server.address(), server.probe())) {
            TestMember a = bench.member(bench.settings(ConsulLayout.LOCK_FILE, Bench.REQUEST_TIMEOUT));

            assertThat(a.attempt("crowd", LIMIT, PERMITS).permits()).isEqualTo(PERMITS);

            assertThat(bench.sessions(a)).hasSize(PERMITS);
            int before = a.signs();
            await().atMost(PATIENCE).until(() -> a.signs() >= before + 2);
            assertThat(a.losses()).isZero();
            assertThat(a.keep("crowd", LIMIT, PERMITS).permits()).isEqualTo(PERMITS);
        }
    }
}
