package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An Error in a check of the session, or in what the layer does with an event, does not end the checks. */
class SessionErrorsTest {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String CHECKS = "checks";

    private final TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
    private final CuratorFramework client = Clients.connect(server.getConnectString(), SESSION, false);
    private final ScheduledExecutorService scheduler =
            Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, CHECKS));
    private final AtomicLong ahead = new AtomicLong();
    private final AtomicBoolean full = new AtomicBoolean();
    private final BrokenLayer layer = new BrokenLayer();
    private final MemberSession session =
            new MemberSession(client, new Nodes(client, "/errors"), SESSION, layer, scheduler, this::time);

    @AfterEach
    void close() throws Exception {
        session.end();
        scheduler.shutdownNow();
        client.close();
        server.close();
    }

    /** Throws in the next check of the session, if the test has said so. */
    private long time() {
        if (Thread.currentThread().getName().equals(CHECKS) && full.getAndSet(false)) {
            throw new StackOverflowError("made by the test");
        }
        return System.nanoTime() + ahead.get();
    }

    @Test
    void sessionIsConfirmedOnAfterAnErrorOfACheck() {
        session.begin();
        await().atMost(SOON).until(() -> session.link() != null);

        full.set(true);

        await().atMost(SOON).untilFalse(full);
        int before = layer.confirmations.get();
        await().atMost(SOON).until(() -> layer.confirmations.get() >= before + 2);
        assertThat(layer.losses).hasValue(0);
    }

    @Test
    void lossThatTheLayerCouldNotTakeInIsFollowedByTheNextEpoch() {
        layer.broken = "lost";
        session.begin();
        await().atMost(SOON).until(() -> layer.epochs.get() == 1);

        ahead.addAndGet(SESSION.toNanos());

        await().atMost(SOON).until(() -> layer.epochs.get() == 2);
        assertThat(layer.losses).hasValue(1);
    }

    @Test
    void inspectionsAreServedAlthoughTheLayerCouldNotTakeInTheSession() {
        layer.broken = "ready";

        session.begin();

        assertThat(session.whenReady()).succeedsWithin(SOON);
    }

    @Test
    void sessionIsReadyAlthoughTheLayerCouldNotTakeInItsConfirmation() {
        layer.broken = "alive";

        session.begin();

        assertThat(session.whenReady()).succeedsWithin(SOON);
        assertThat(layer.epochs).hasValue(1);
    }

    /** Its stack is full whenever it receives the one event that is broken. */
    private static final class BrokenLayer implements MemberSession.Events {

        private final AtomicInteger epochs = new AtomicInteger();
        private final AtomicInteger confirmations = new AtomicInteger();
        private final AtomicInteger losses = new AtomicInteger();
        private volatile String broken = "";

        private void received(String event) {
            if (event.equals(broken)) {
                throw new StackOverflowError("made by the test");
            }
        }

        @Override
        public void ready(Link link) {
            epochs.incrementAndGet();
            received("ready");
        }

        @Override
        public void reconnected(Link link) {}

        @Override
        public void alive(long sentAtNanos) {
            confirmations.incrementAndGet();
            received("alive");
        }

        @Override
        public void lost() {
            losses.incrementAndGet();
            received("lost");
        }
    }
}
