package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A connection that was made and cannot be used is closed: no other component has it. */
class ConnectionAdoptionTest extends RedisTest {

    private final RedisServer server = open(RedisServer.started());
    private final List<SharedConnection> made = new CopyOnWriteArrayList<>();

    @Test
    void connectionForWhichNoPipelineCanBeMadeIsClosed() {
        RedisSettings settings = TestMember.SETTINGS;
        byte[] channel = RedisKeys.channel("permits", "member");
        WorkSignal signal = new WorkSignal();
        Connector connector = new Connector(
                factory(server),
                settings.commandTimeout(),
                channel,
                new UnresponsiveNodes(System::nanoTime),
                0,
                signal::checkConnections);
        GrantSubscription subscription = new GrantSubscription(
                channel,
                new GrantMessages(
                        new RedisKeys("permits"),
                        new Recorder(() -> {}),
                        member -> CompletableFuture.completedFuture(Optional.empty()),
                        false),
                connector,
                settings,
                signal::checkConnections);

        ConnectionManager manager = open(new ConnectionManager(
                connector, subscription, signal, this::pipeline, new NameKeys("permits", "member", "test"), () -> {}));
        manager.start("connection-adoption-test");

        await().atMost(Duration.ofSeconds(20)).until(() -> made.size() == 2);
        assertThat(made.get(0).isRetired()).isTrue();
        assertThat(made.get(1).isRetired()).isFalse();
    }

    private ClaimPipeline pipeline(SharedConnection connection) {
        made.add(connection);
        if (made.size() == 1) {
            throw new StackOverflowError("made by the test");
        }
        return new ClaimPipeline(
                connection,
                RedisKey.bytes("member"),
                TestMember.SETTINGS,
                null,
                new KnownEpochs(System::nanoTime),
                new AtomicLong(-1),
                System::nanoTime);
    }
}
