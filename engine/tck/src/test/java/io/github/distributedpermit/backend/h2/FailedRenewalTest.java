package io.github.distributedpermit.backend.h2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.BlockingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A connection that breaks once, at the renewal of the session: the session lives on, and claims go on in it. */
class FailedRenewalTest {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration SOON = Duration.ofSeconds(30);

    private final JdbcConnectionPool database =
            JdbcConnectionPool.create("jdbc:h2:mem:failed-renewal;LOCK_TIMEOUT=30000", "sa", "");
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void close() {
        thread.shutdownNow();
        database.dispose();
    }

    @Test
    void sessionThatWasNotRenewedOnceIsUsedOn() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(H2SnapshotStore.SCHEMA);
        }
        FrailClient client = new FrailClient(new H2SnapshotStore(database));
        Confirmations core = new Confirmations();
        try (PermitStore store = new SnapshotPermitStore<>(
                new BlockingSnapshotStore<>(client, "me", SESSION, POLL, System::nanoTime, thread),
                new Member("me", "me"),
                core,
                System::nanoTime,
                thread,
                Duration.ofMinutes(1))) {
            assertThat(claim(store, 1, 1)).isEqualTo(1);

            client.breaks.set(true);

            await().atMost(SOON).untilFalse(client.breaks);
            int before = core.confirmed.get();
            await().atMost(SOON).until(() -> core.confirmed.get() > before);
            assertThat(claim(store, 2, 2)).isEqualTo(2);
            assertThat(core.losses).hasValue(0);
        }
    }

    private static int claim(PermitStore store, long sequence, int wanted) {
        Claim claim = new Claim("export", 5, sequence, wanted, wanted, 1, Duration.ZERO, SESSION, true);
        return store.claim(claim).toCompletableFuture().join().permits();
    }

    /** The client of the example, with a connection that breaks at the next renewal if the test says so. */
    private static final class FrailClient implements BlockingSnapshotStore.Client<H2Snapshot> {

        private final AtomicBoolean breaks = new AtomicBoolean();
        private final H2SnapshotStore client;

        FrailClient(H2SnapshotStore client) {
            this.client = client;
        }

        @Override
        public boolean renew(String session, Duration length) throws SQLException {
            if (breaks.getAndSet(false)) {
                throw new SQLException("The connection is broken, made by the test");
            }
            return client.renew(session, length);
        }

        @Override
        public void begin(String session, Duration length) throws SQLException {
            client.begin(session, length);
        }

        @Override
        public void end(String session) throws SQLException {
            client.end(session);
        }

        @Override
        public H2Snapshot read(String name) throws SQLException {
            return client.read(name);
        }

        @Override
        public Commit<H2Snapshot> commit(String name, PlannedCommit<H2Snapshot> planned) throws SQLException {
            return client.commit(name, planned);
        }

        @Override
        public List<Map.Entry<String, Holding>> takeNotices(String session) throws SQLException {
            return client.takeNotices(session);
        }
    }

    private static final class Confirmations implements HoldingListener {

        private final AtomicInteger confirmed = new AtomicInteger();
        private final AtomicInteger losses = new AtomicInteger();

        @Override
        public void granted(String key, Holding holding) {}

        @Override
        public void changed(String key) {}

        @Override
        public void alive(long sentAtNanos) {
            confirmed.incrementAndGet();
        }

        @Override
        public void lost() {
            losses.incrementAndGet();
        }
    }
}
