package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A session that the member gives up by its own clock while the ensemble keeps it, as after an outage of half a session:
 * the nodes made before do not end with it. The clock is ahead here; {@link QuorumTest} takes the servers away.
 */
class GivenUpTest {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final String ROOT = "/given-up";
    private static final String KEY = "export";

    private final TestingServer server = Servers.single(2_000);
    private final TcpProxy wire = new TcpProxy(server.getPort());
    private final CuratorFramework client = Clients.connect(wire.connectString(), SESSION, false);
    private final Observer observer = new Observer(server.getConnectString(), ROOT);
    private final AtomicLong ahead = new AtomicLong();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicLong sequence = new AtomicLong();
    private final PermitStore store = new ZooKeeperPermitBackend(
                    client,
                    new ZooKeeperSettings(ROOT, SESSION, Duration.ofMinutes(10)),
                    () -> System.nanoTime() + ahead.get())
            .join(new Member(UUID.randomUUID().toString(), "test"), new Losses());

    @BeforeEach
    void theRootIsThere() {
        patiently().until(() -> claim("other", 1).get(5, TimeUnit.SECONDS).permits() == 1);
    }

    @AfterEach
    void close() throws Exception {
        store.close();
        patiently().untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        client.close();
        observer.close();
        wire.close();
        server.close();
    }

    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(20)).ignoreExceptions();
    }

    private CompletableFuture<Holding> claim(String key, int wanted) {
        Claim claim = Claim.of(key, sequence.incrementAndGet(), SESSION)
                .wanted(wanted)
                .queued(wanted);
        return store.claim(claim).toCompletableFuture();
    }

    private void giveUp() {
        int before = losses.get();
        ahead.addAndGet(SESSION.toNanos());
        patiently().until(() -> losses.get() > before);
    }

    private String onlyNode() {
        List<String> nodes = observer.memberNodes(KEY);
        assertThat(nodes).hasSize(1);
        return nodes.get(0);
    }

    @Test
    void nodeGoesWhenNobodyClaimsAgain() {
        claim(KEY, 1).orTimeout(20, TimeUnit.SECONDS).join();

        giveUp();

        patiently().untilAsserted(() -> {
            assertThat(observer.memberNodes(KEY)).isEmpty();
            assertThat(observer.memberNodes("other")).isEmpty();
        });
    }

    @Test
    void nodeGoesWhenTheMemberJoinsWithAnother() {
        claim(KEY, 1).orTimeout(20, TimeUnit.SECONDS).join();
        for (int time = 0; time < 2; time++) {
            String before = onlyNode();
            giveUp();

            patiently().until(() -> claim(KEY, 1).get(5, TimeUnit.SECONDS).permits() == 1);

            patiently().untilAsserted(() -> assertThat(onlyNode()).isNotEqualTo(before));
            assertThat(observer.look(KEY).used()).isEqualTo(1);
        }
    }

    /** It is unknown whether the node was made. */
    @Test
    void nodeOfAnUnansweredClaimGoes() {
        wire.loseAnswers();
        claim(KEY, 1);
        patiently().until(() -> !observer.memberNodes(KEY).isEmpty());
        giveUp();

        wire.mend();

        patiently().untilAsserted(() -> assertThat(observer.memberNodes(KEY)).isEmpty());
    }

    /** The client, and with it the session, is the application's and lives on. */
    @Test
    void nodeGoesWithTheMember() {
        claim(KEY, 1).orTimeout(20, TimeUnit.SECONDS).join();

        giveUp();
        store.close();

        patiently().untilAsserted(() -> assertThat(observer.tree()).isEmpty());
    }

    private final class Losses extends SilentCore {

        @Override
        public void lost() {
            losses.incrementAndGet();
        }
    }
}
