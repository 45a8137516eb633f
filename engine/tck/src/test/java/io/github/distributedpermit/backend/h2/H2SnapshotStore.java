package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SnapshotStore;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A member's permits in a database: one row per key, committed by its revision; one row per session, with its expiry on the
 * clock of the database; one row per notice, which its receiver polls. JDBC blocks, so that all of it runs on the member's
 * one thread.
 */
final class H2SnapshotStore implements SnapshotStore<H2Snapshot> {

    private static final String NOW = "DATEDIFF('MILLISECOND', TIMESTAMP '2020-01-01 00:00:00', LOCALTIMESTAMP)";
    private static final long POLL_MILLIS = 10;

    static final String SCHEMA = """
            CREATE TABLE permit_key(name VARCHAR PRIMARY KEY, revision BIGINT, version BIGINT, document VARCHAR);
            CREATE TABLE permit_member(name VARCHAR PRIMARY KEY, expires BIGINT);
            CREATE TABLE permit_notice(member VARCHAR, name VARCHAR, permits INT, lim INT, seq BIGINT, version BIGINT,
                contended BOOLEAN, over BOOLEAN);
            CREATE SEQUENCE permit_revision;
            CREATE TABLE permit_clock(version BIGINT);
            INSERT INTO permit_clock VALUES(0);
            """;

    private interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    private final DataSource database;
    private final String id;
    private final Duration ttl;
    private final ScheduledExecutorService thread;
    /** By their names in the database. */
    private final Map<String, String> keys = new ConcurrentHashMap<>();

    private @Nullable StoreEvents events;
    private @Nullable StoreSession session;
    private long sessions;

    H2SnapshotStore(DataSource database, String id, Duration ttl, ScheduledExecutorService thread) {
        this.database = database;
        this.id = id;
        this.ttl = ttl;
        this.thread = thread;
    }

    @Override
    public void open(StoreEvents layer) {
        events = layer;
        thread.scheduleWithFixedDelay(this::keepAlive, 0, ttl.toMillis() / 10, TimeUnit.MILLISECONDS);
        thread.scheduleWithFixedDelay(this::poll, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public Duration session() {
        return ttl;
    }

    private void keepAlive() {
        StoreEvents layer = Objects.requireNonNull(events);
        long sentAt = System.nanoTime();
        StoreSession current = session;
        try {
            String renew = "UPDATE permit_member SET expires = " + NOW + " + ? WHERE name = ? AND expires > " + NOW;
            if (current != null && transact(c -> update(c, renew, ttl.toMillis(), current.member())) == 0) {
                session = null;
                layer.lost();
            }
            if (session == null) {
                sessions++;
                StoreSession next = new StoreSession(id + "~" + sessions, sessions);
                String begin = "INSERT INTO permit_member VALUES(?, " + NOW + " + ?)";
                transact(c -> update(c, begin, next.member(), ttl.toMillis()));
                session = next;
                layer.alive(sentAt);
                layer.ready(next);
            } else {
                layer.alive(sentAt);
            }
        } catch (SQLException e) {
            layer.unavailable(PermitStoreException.passing("The database failed: " + e.getMessage(), e));
        }
    }

    @Override
    public CompletionStage<H2Snapshot> read(String key) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return transact(c -> read(c, name(key)));
                    } catch (SQLException e) {
                        throw PermitStoreException.passing("The database failed: " + e.getMessage(), e);
                    }
                },
                thread);
    }

    /** The row first: a member in it had its session before, so that none is missed. */
    static H2Snapshot read(Connection c, String name) throws SQLException {
        long revision = 0;
        long version;
        String document = "-";
        try (PreparedStatement s = prepared(
                        c,
                        "SELECT k.revision, COALESCE(k.version, t.version), k.document FROM permit_clock t "
                                + "LEFT JOIN permit_key k ON k.name = ?",
                        name);
                ResultSet row = s.executeQuery()) {
            row.next();
            revision = row.getLong(1);
            version = row.getLong(2);
            document = revision == 0 ? "-" : row.getString(3);
        }
        Set<String> live = new HashSet<>();
        try (PreparedStatement s = prepared(c, "SELECT name FROM permit_member WHERE expires > " + NOW);
                ResultSet rows = s.executeQuery()) {
            while (rows.next()) {
                live.add(rows.getString(1));
            }
        }
        return H2Snapshot.decode(revision, version, document, live);
    }

    @Override
    public CompletionStage<Commit<H2Snapshot>> commit(PlannedCommit<H2Snapshot> planned) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return transact(c -> commit(c, planned));
                    } catch (SQLIntegrityConstraintViolationException e) {
                        return new Commit.Conflict<>(); // another member has inserted the row
                    } catch (SQLException e) {
                        return new Commit.OutcomeUnknown<>(
                                PermitStoreException.passing("The database failed: " + e.getMessage(), e));
                    }
                },
                thread);
    }

    private Commit<H2Snapshot> commit(Connection c, PlannedCommit<H2Snapshot> planned) throws SQLException {
        H2Snapshot before = planned.before();
        String name = name(planned.key());
        long revision = number(c, "SELECT NEXT VALUE FOR permit_revision");
        String alive = "UPDATE permit_member SET expires = expires WHERE name = ? AND expires > " + NOW;
        if (update(c, alive, planned.member()) == 0) {
            return new Commit.SessionLost<>(PermitStoreException.passing("The session has expired", null));
        }
        int written;
        if (planned.after().isEmpty()) {
            revision = 0;
            update(
                    c,
                    "UPDATE permit_clock SET version = GREATEST(version, ?)",
                    planned.after().version());
            written = before.revision() == 0
                    ? 1
                    : update(c, "DELETE FROM permit_key WHERE name = ? AND revision = ?", name, before.revision());
        } else if (before.revision() == 0) {
            String insert = "INSERT INTO permit_key VALUES(?, ?, ?, ?)";
            written = update(c, insert, name, revision, planned.after().version(), H2Snapshot.encode(planned.after()));
        } else {
            written = update(
                    c,
                    "UPDATE permit_key SET revision = ?, version = ?, document = ? WHERE name = ? AND revision = ?",
                    revision,
                    planned.after().version(),
                    H2Snapshot.encode(planned.after()),
                    name,
                    before.revision());
        }
        if (written == 0) {
            c.rollback();
            return new Commit.Conflict<>();
        }
        for (Map.Entry<String, Holding> served : planned.step().served().entrySet()) {
            Holding h = served.getValue();
            String notify = "INSERT INTO permit_notice VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
            update(
                    c,
                    notify,
                    served.getKey(),
                    name,
                    h.permits(),
                    h.limit(),
                    h.sequence(),
                    h.version(),
                    h.contended(),
                    h.over());
        }
        return new Commit.Done<>(before.with(revision, planned.after()));
    }

    private void poll() {
        StoreSession current = session;
        if (current == null) {
            return;
        }
        try {
            transact(c -> {
                String take =
                        "SELECT * FROM FINAL TABLE(DELETE FROM permit_notice WHERE member = ?)".replace("FINAL", "OLD");
                try (PreparedStatement s = prepared(c, take, current.member());
                        ResultSet rows = s.executeQuery()) {
                    while (rows.next()) {
                        Holding holding = new Holding(
                                rows.getInt("permits"),
                                rows.getInt("lim"),
                                rows.getLong("seq"),
                                rows.getLong("version"),
                                rows.getBoolean("contended"),
                                rows.getBoolean("over"),
                                Optional.empty());
                        String key = keys.get(rows.getString("name"));
                        thread.execute(() -> served(key, holding));
                    }
                }
                return OptionalInt.empty();
            });
        } catch (SQLException e) {
            // the core claims again in any case
        }
    }

    private void served(@Nullable String key, Holding holding) {
        if (key != null) {
            Objects.requireNonNull(events).served(key, holding);
        }
    }

    private String name(String key) {
        String name = KeyEncoding.encode(key);
        keys.putIfAbsent(name, key);
        return name;
    }

    @Override
    public CompletionStage<Set<String>> release(Set<String> unused) {
        unused.forEach(key -> keys.remove(KeyEncoding.encode(key)));
        return CompletableFuture.completedFuture(unused);
    }

    @Override
    public void close() {
        StoreSession last = session;
        thread.shutdownNow();
        try {
            if (last != null) {
                transact(c -> update(c, "DELETE FROM permit_member WHERE name = ?", last.member()));
                transact(c -> update(c, "DELETE FROM permit_notice WHERE member = ?", last.member()));
            }
        } catch (SQLException e) {
            // it expires
        }
    }

    private <T> T transact(Work<T> work) throws SQLException {
        try (Connection c = database.getConnection()) {
            c.setAutoCommit(false);
            T result = work.in(c);
            c.commit();
            return result;
        }
    }

    static int update(Connection c, String sql, Object... values) throws SQLException {
        try (PreparedStatement s = prepared(c, sql, values)) {
            return s.executeUpdate();
        }
    }

    private static long number(Connection c, String sql) throws SQLException {
        try (PreparedStatement s = prepared(c, sql);
                ResultSet row = s.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    private static PreparedStatement prepared(Connection c, String sql, Object... values) throws SQLException {
        PreparedStatement s = c.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            s.setObject(i + 1, values[i]);
        }
        return s;
    }
}
