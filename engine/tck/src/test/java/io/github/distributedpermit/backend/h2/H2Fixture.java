package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.contract.SessionStoreFixture;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.BlockingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import io.github.distributedpermit.spi.step.KeyTable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcConnectionPool;

/** An empty database in memory for each test. */
final class H2Fixture implements SessionStoreFixture, PermitBackend {

    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final JdbcConnectionPool database = JdbcConnectionPool.create(
            "jdbc:h2:mem:permits-%d;LOCK_TIMEOUT=30000".formatted(COUNT.incrementAndGet()), "sa", "");
    private final Connection observer;
    private final Map<PermitStore, String> ids = new ConcurrentHashMap<>();

    H2Fixture() throws SQLException {
        database.setMaxConnections(100);
        observer = database.getConnection();
        try (Statement s = observer.createStatement()) {
            s.execute(H2SnapshotStore.SCHEMA);
        }
    }

    @Override
    public String name() {
        return "h2";
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        PermitStore store = new SnapshotPermitStore<>(
                new BlockingSnapshotStore<>(
                        new H2SnapshotStore(database), member.id(), SESSION, POLL, System::nanoTime, thread),
                member,
                listener,
                System::nanoTime,
                thread,
                Duration.ofMinutes(1));
        ids.put(store, member.id());
        return store;
    }

    @Override
    public PermitBackend backend() {
        return this;
    }

    @Override
    public Duration lease() {
        return SESSION;
    }

    @Override
    public synchronized KeySnapshot look(String key) {
        try {
            H2Snapshot seen = H2SnapshotStore.read(observer, KeyEncoding.encode(key));
            KeyTable table = seen.table();
            List<Row> rows = table.records().stream()
                    .map(r -> new Row(seen.process(r.member()), r.permits(), r.wanted(), r.limit(), r.isQueued()))
                    .toList();
            return new KeySnapshot(table.used(), table.override(), rows);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public synchronized Collection<String> residue() {
        List<String> all = new ArrayList<>();
        try (Statement s = observer.createStatement();
                ResultSet rows = s.executeQuery("SELECT name FROM permit_key")) {
            while (rows.next()) {
                all.add(rows.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return all;
    }

    /** A key goes with the last record. */
    @Override
    public void passIdleTime() {}

    /** Its session expires, and the process does not notice that. */
    @Override
    public synchronized void die(PermitStore store) {
        try {
            H2SnapshotStore.update(
                    observer, "UPDATE permit_member SET expires = 0 WHERE name LIKE ?", ids.get(store) + "~%");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            observer.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        database.dispose();
    }
}
