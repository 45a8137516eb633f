package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.ports.FreePorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that grant a shorter session than the one asked for: from the beginning, or after a restart. */
class ShorterSessionTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    /** With ticks of 500 ms. */
    private static final Duration LONGEST = Duration.ofSeconds(10);
    /** More than one beat, so that the time between two of them counts. */
    private static final int BEATS = 6;

    @ParameterizedTest
    @ValueSource(ints = {30, 600})
    void isConfirmedAsOftenAsItsGrantedLengthNeeds(int asked) throws Exception {
        try (TestingServer server = Servers.single(500);
                Session session = new Session(server, Duration.ofSeconds(asked))) {
            await().atMost(SOON).until(() -> session.validities.size() >= BEATS);

            assertThat(session.losses).hasValue(0);
            assertThat(session.validities).allSatisfy(ShorterSessionTest::fitsTheLongest);
        }
    }

    private static void fitsTheLongest(Duration validity) {
        assertThat(validity)
                .isBetween(LONGEST.dividedBy(10), LONGEST.multipliedBy(19).dividedBy(20));
    }

    @Test
    void permitsAreHeldInASessionOfASixtiethOfTheLease() throws Exception {
        try (TestingServer server = Servers.single(500);
                TestProcess process = new TestProcess(server.getConnectString(), "/shorter", Duration.ofMinutes(10))) {
            Permit permit = process.permits("export", 1)
                    .acquire(PermitRequest.of("export").withTimeout(SOON));
            assertThat(permit.isHeld()).isTrue();
            permit.release();
        }
    }

    /** The client reconnects in the same session, which a server with shorter ticks has made shorter. */
    @Test
    void isGivenUpWhenItIsRenegotiatedShorter(@TempDir Path data) throws Exception {
        List<Integer> ports = FreePorts.some(3);
        TestingServer before = server(data, ports, Servers.LONG_TICK_MILLIS);
        try (Session session = new Session(before, Duration.ofSeconds(15))) {
            await().atMost(SOON).until(() -> !session.validities.isEmpty());
            before.close();
            try (TestingServer after = server(data, ports, 500)) {
                await().atMost(SOON)
                        .untilAtomic(
                                session.losses, losses -> assertThat(losses).isEqualTo(1));
                session.validities.clear();
                await().atMost(SOON).until(() -> session.validities.size() >= BEATS);

                assertThat(session.losses).hasValue(1);
                assertThat(session.validities).allSatisfy(ShorterSessionTest::fitsTheLongest);
            }
        }
    }

    private static TestingServer server(Path data, List<Integer> ports, int tick) throws Exception {
        return new TestingServer(
                new InstanceSpec(data.toFile(), ports.get(0), ports.get(1), ports.get(2), false, 1, tick, 100), true);
    }

    /** For how long permits were valid at each confirmation, as the core computes it, and how often all were lost. */
    private static final class Session implements MemberSession.Events, AutoCloseable {

        private final Queue<Duration> validities = new ConcurrentLinkedQueue<>();
        private final AtomicInteger losses = new AtomicInteger();
        private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
        private final Duration asked;
        private final CuratorFramework client;
        private final MemberSession session;

        Session(TestingServer server, Duration asked) {
            this.asked = asked;
            client = Clients.connect(server.getConnectString(), asked, false);
            session =
                    new MemberSession(client, new Nodes(client, "/shorter"), asked, this, scheduler, System::nanoTime);
            session.begin();
        }

        @Override
        public void ready(Link link) {}

        @Override
        public void reconnected(Link link) {}

        @Override
        public void alive(long sentAtNanos) {
            validities.add(asked.minus(asked.dividedBy(20)).plusNanos(sentAtNanos - System.nanoTime()));
        }

        @Override
        public void lost() {
            losses.incrementAndGet();
        }

        @Override
        public void close() {
            session.end();
            scheduler.shutdownNow();
            client.close();
        }
    }
}
