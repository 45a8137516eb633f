package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SilentCore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A leader that has lost its followers answers its own clients until it notices. */
class LeaderWithoutQuorumTest {

    private static final int TICK_MILLIS = 500;
    /** The leader gives up its rank after half a minute. */
    private static final int SYNC_LIMIT = 60;

    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration SOON = Duration.ofSeconds(25);

    @TempDir
    private Path folder;

    @Test
    void memberGivesUpItsPermitsAlthoughTheLeaderAnswersItsReads() throws Exception {
        try (ServerProcesses servers = new ServerProcesses(folder, TICK_MILLIS, SYNC_LIMIT);
                CuratorFramework client = Clients.connect(servers.leaderAddress(), SESSION, false);
                CuratorFramework reader = Clients.connect(servers.leaderAddress(), SESSION, false)) {
            AtomicInteger confirmations = new AtomicInteger();
            AtomicInteger losses = new AtomicInteger();
            try (PermitStore store = new ZooKeeperPermitBackend(
                            client, new ZooKeeperSettings("/deposed", SESSION, Duration.ofSeconds(1)))
                    .join(new Member(UUID.randomUUID().toString(), "test"), new SilentCore() {
                        @Override
                        public void alive(long sentAtNanos) {
                            confirmations.incrementAndGet();
                        }

                        @Override
                        public void lost() {
                            losses.incrementAndGet();
                        }
                    })) {
                Clients.awaitSession(store);
                await().atMost(SOON).until(() -> confirmations.get() > 2);
                assertThat(sync(reader)).succeedsWithin(SOON);
                int before = losses.get();

                servers.freezeFollowers();

                await().atMost(SOON).untilAsserted(() -> assertThat(losses).hasValueGreaterThan(before));
                assertThat(sync(reader)).as("the leader answers").succeedsWithin(SOON);
            }
        }
    }

    private static CompletableFuture<Void> sync(CuratorFramework client) throws Exception {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        client.getZookeeperClient()
                .getZooKeeper()
                .sync(
                        "/",
                        (code, path, context) -> {
                            if (code == 0) {
                                answer.complete(null);
                            }
                        },
                        null);
        return answer;
    }
}
