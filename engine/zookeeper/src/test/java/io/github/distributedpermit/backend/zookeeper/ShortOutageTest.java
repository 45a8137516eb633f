package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Outages that are shorter than a session: the session survives them, and with it the permits. */
class ShortOutageTest {

    private static final String ROOT = "/short-outages";
    private static final String KEY = "export";
    private static final int LIMIT = 2;

    private final TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
    private final TcpProxy wire = new TcpProxy(server.getPort());
    private final TestProcess frail = process(wire.connectString());
    private final TestProcess sound = process(server.getConnectString());

    private static TestProcess process(String connectString) {
        return TestProcess.impatient(connectString, ROOT, Servers.LONG_SESSION, false);
    }

    @AfterEach
    void everythingIsFreeAndNothingIsLeft() throws Exception {
        patiently().untilAsserted(() -> acquire(sound, LIMIT).release());
        frail.close();
        sound.close();
        wire.close();
        try (Observer observer = new Observer(server.getConnectString(), ROOT)) {
            patiently().untilAsserted(() -> assertThat(observer.tree()).isEmpty());
        }
        server.close();
    }

    private static ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(40)).ignoreExceptions();
    }

    private static Permit acquire(TestProcess process, int permits) throws InterruptedException {
        return process.permits(KEY, LIMIT)
                .acquire(PermitRequest.of(KEY).withPermits(permits).withTimeout(Duration.ofSeconds(20)));
    }

    @Test
    void suspendedIsNotLost() throws Exception {
        Permit permit = acquire(frail, 1);
        AtomicInteger losses = new AtomicInteger();
        permit.onLoss(losses::incrementAndGet);

        assertThat(frail.engine().problem()).isEmpty();

        wire.cut();
        patiently().until(() -> !frail.client().getZookeeperClient().isConnected());
        assertThat(frail.engine().problem()).hasValue("not connected to a ZooKeeper server");
        wire.mend();
        patiently().until(() -> frail.client().getZookeeperClient().isConnected());
        Permit another = acquire(frail, 1);

        assertThat(frail.engine().problem()).isEmpty();
        assertThat(permit.isHeld()).isTrue();
        assertThat(losses).hasValue(0);
        another.release();
        permit.release();
    }

    /** The session survives with the server's log, and with it the permit. */
    @Test
    void serverRestartedSoonLosesNothing() throws Exception {
        Permit permit = acquire(frail, LIMIT);
        CompletableFuture<Permit> waiting = sound.permits(KEY, LIMIT).acquireAsync(PermitRequest.of(KEY));

        server.restart();

        patiently().until(() -> sound.client().getZookeeperClient().isConnected());
        patiently().until(() -> frail.client().getZookeeperClient().isConnected());
        boolean kept = permit.isHeld();
        assertThat(kept && waiting.isDone()).as("held twice").isFalse();
        permit.release();
        waiting.orTimeout(30, TimeUnit.SECONDS).join().release();
    }
}
