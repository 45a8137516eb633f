package io.github.distributedpermit.backend.h2;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BlockingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.RecordText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/**
 * A member's permits in a database: one row per key, committed by its revision; one row per session, with its expiry on the
 * clock of the database; one row per notice. Each method is one transaction.
 */
final class H2SnapshotStore implements BlockingSnapshotStore.Client<H2Snapshot> {

    private static final String NOW = "DATEDIFF('MILLISECOND', TIMESTAMP '2020-01-01 00:00:00', LOCALTIMESTAMP)";

    static final String SCHEMA = """
            CREATE TABLE permit_key(name VARCHAR PRIMARY KEY, revision BIGINT, version BIGINT, document VARCHAR);
            CREATE TABLE permit_member(name VARCHAR PRIMARY KEY, expires BIGINT);
            CREATE TABLE permit_notice(member VARCHAR, name VARCHAR, holding VARCHAR);
            CREATE SEQUENCE permit_revision;
            CREATE TABLE permit_clock(version BIGINT);
            INSERT INTO permit_clock VALUES(0);
            """;

    private interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    private final DataSource database;

    H2SnapshotStore(DataSource database) {
        this.database = database;
    }

    @Override
    public void begin(String session, Duration length) throws SQLException {
        transact(c -> update(c, "INSERT INTO permit_member VALUES(?, " + NOW + " + ?)", session, length.toMillis()));
    }

    @Override
    public boolean renew(String session, Duration length) throws SQLException {
        String renew = "UPDATE permit_member SET expires = " + NOW + " + ? WHERE name = ? AND expires > " + NOW;
        return transact(c -> update(c, renew, length.toMillis(), session)) > 0;
    }

    @Override
    public void end(String session) throws SQLException {
        transact(c -> update(c, "DELETE FROM permit_member WHERE name = ?", session)
                + update(c, "DELETE FROM permit_notice WHERE member = ?", session));
    }

    @Override
    public H2Snapshot read(String name) throws SQLException {
        return transact(c -> read(c, name));
    }

    /** The row first: a member in it had its session before, so that none is missed. */
    static H2Snapshot read(Connection c, String name) throws SQLException {
        long revision;
        long version;
        String document;
        try (PreparedStatement s = prepared(
                        c,
                        "SELECT k.revision, COALESCE(k.version, t.version), COALESCE(k.document, '-') "
                                + "FROM permit_clock t LEFT JOIN permit_key k ON k.name = ?",
                        name);
                ResultSet row = s.executeQuery()) {
            row.next();
            revision = row.getLong(1); // 0 if there is no row
            version = row.getLong(2);
            document = row.getString(3);
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
    public Commit<H2Snapshot> commit(String name, PlannedCommit<H2Snapshot> planned) throws SQLException {
        try {
            return transact(c -> commit(c, name, planned));
        } catch (SQLIntegrityConstraintViolationException e) {
            return new Commit.Conflict<>(); // another member has inserted the row
        }
    }

    private static Commit<H2Snapshot> commit(Connection c, String name, PlannedCommit<H2Snapshot> planned)
            throws SQLException {
        String alive = "UPDATE permit_member SET expires = expires WHERE name = ? AND expires > " + NOW;
        if (update(c, alive, planned.member()) == 0) {
            return new Commit.SessionLost<>(PermitStoreException.passing("The session has expired", null));
        }
        long revision = planned.after().isEmpty() ? 0 : number(c, "SELECT NEXT VALUE FOR permit_revision");
        if (!write(c, name, revision, planned)) {
            c.rollback();
            return new Commit.Conflict<>();
        }
        for (Map.Entry<String, Holding> served : planned.step().served().entrySet()) {
            String notify = "INSERT INTO permit_notice VALUES(?, ?, ?)";
            update(c, notify, served.getKey(), name, RecordText.of(served.getValue()));
        }
        return new Commit.Done<>(planned.before().with(revision, planned.after()));
    }

    /** Whether the row was as in the snapshot. The clock remembers the highest version of the rows that are deleted. */
    private static boolean write(Connection c, String name, long revision, PlannedCommit<H2Snapshot> planned)
            throws SQLException {
        long before = planned.before().revision();
        long version = planned.after().version();
        if (revision == 0) {
            update(c, "UPDATE permit_clock SET version = GREATEST(version, ?)", version);
            return before == 0
                    || update(c, "DELETE FROM permit_key WHERE name = ? AND revision = ?", name, before) == 1;
        }
        String document = H2Snapshot.encode(planned.after());
        if (before == 0) {
            return update(c, "INSERT INTO permit_key VALUES(?, ?, ?, ?)", name, revision, version, document) == 1;
        }
        String change = "UPDATE permit_key SET revision = ?, version = ?, document = ? WHERE name = ? AND revision = ?";
        return update(c, change, revision, version, document, name, before) == 1;
    }

    @Override
    public List<Map.Entry<String, Holding>> takeNotices(String session) throws SQLException {
        String take = "SELECT name, holding FROM OLD TABLE(DELETE FROM permit_notice WHERE member = ?)";
        return transact(c -> {
            List<Map.Entry<String, Holding>> notices = new ArrayList<>();
            try (PreparedStatement s = prepared(c, take, session);
                    ResultSet rows = s.executeQuery()) {
                while (rows.next()) {
                    Holding holding = RecordText.holding(rows.getString(2).split(" ", -1), 0);
                    notices.add(Map.entry(rows.getString(1), holding));
                }
            }
            return notices;
        });
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
