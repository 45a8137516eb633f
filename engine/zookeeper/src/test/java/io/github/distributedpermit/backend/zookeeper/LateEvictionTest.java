package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException.BadVersionException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** The transaction of an eviction that a silent network has delayed, after the member has got another permit. */
class LateEvictionTest {

    private static final String ROOT = "/late";
    private static final String KEY = "late";
    private static final Duration SESSION = Servers.LONG_SESSION;

    private long sequence;

    @Test
    void takesNoPermitThatTheMemberHasGotSince() throws Exception {
        String id = UUID.randomUUID().toString();
        try (TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
                Observer observer = new Observer(server.getConnectString(), ROOT);
                CuratorFramework client = Clients.connect(server.getConnectString(), SESSION, false);
                PermitStore store = new ZooKeeperPermitBackend(
                                client, new ZooKeeperSettings(ROOT, SESSION, Duration.ofMinutes(1)))
                        .join(new Member(id, "test"), new SilentCore())) {
            Clients.awaitSession(store);
            assertThat(claim(store, 1).permits()).isEqualTo(1);
            List<Op> order = eviction(observer, id);
            claim(store, 0);
            assertThat(claim(store, 1).permits()).isEqualTo(1);

            assertThatExceptionOfType(BadVersionException.class)
                    .isThrownBy(() -> observer.zk().multi(order));

            assertThat(observer.look(KEY).used()).isEqualTo(1);
            assertThat(done(store.evict(KEY, id))).isEqualTo(1);
            assertThat(observer.look(KEY).used()).isZero();
        }
    }

    /** As the store makes it of what it sees now. */
    private static List<Op> eviction(Observer observer, String member) throws Exception {
        String path = observer.path(KEY);
        Stat stat = new Stat();
        KeyDocument document = KeyDocument.decode(observer.zk().getData(path, false, stat));
        NodeSnapshot seen = new NodeSnapshot(
                document, stat.getVersion(), stat.getCzxid(), observer.zk().getChildren(path, false));
        return ZooKeeperSnapshotStore.eviction(path, seen, member);
    }

    private Holding claim(PermitStore store, int wanted) {
        sequence++;
        return done(store.claim(Claim.of(KEY, sequence, SESSION).wanted(wanted).queued(wanted)));
    }

    private static <T> T done(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }
}
