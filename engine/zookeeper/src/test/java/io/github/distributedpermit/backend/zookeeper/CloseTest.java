package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** The client, and so the session, belongs to the application and outlives the store: what the store leaves there stays. */
class CloseTest {

    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final String ROOT = "/close";
    private static final String KEY = "export";

    /** The store closes after the transaction was planned, and before it is sent. */
    @Test
    void transactionSentAtTheMomentOfTheCloseLeavesNoNode() throws Exception {
        try (TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
                CountingClient client = new CountingClient(server.getConnectString(), SESSION);
                Observer observer = new Observer(server.getConnectString(), ROOT)) {
            PermitStore store = new ZooKeeperPermitBackend(
                            client.curator(), new ZooKeeperSettings(ROOT, SESSION, Duration.ofMinutes(1)))
                    .join(new Member(UUID.randomUUID().toString(), "test"), new SilentCore());
            Clients.awaitSession(store);
            assertThat(claim(store, "other", 1).join().permits()).isEqualTo(1); // creates the root
            client.beforeNextWrite(store::close);

            CompletableFuture<Holding> claim = claim(store, KEY, 2);

            assertThat(claim).isCompletedExceptionally();
            // a server executes the requests of a session in their order: this one follows all of the store's
            ZooKeeper session = client.curator().getZookeeperClient().getZooKeeper();
            session.exists(observer.path(KEY), false);
            assertThat(observer.tree()).noneMatch(path -> path.contains("/m-"));
        }
    }

    private static CompletableFuture<Holding> claim(PermitStore store, String key, long sequence) {
        return store.claim(Claim.of(key, sequence, SESSION).wanted(1).queued(1)).toCompletableFuture();
    }
}
