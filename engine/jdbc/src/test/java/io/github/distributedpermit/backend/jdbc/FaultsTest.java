package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What goes wrong with a database that the contract does not know, on a real PostgreSQL server. */
class FaultsTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration SESSION = Duration.ofSeconds(20);
    /** A claim that takes longer fails, and no test repeats it. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(6);

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final PGSimpleDataSource database =
            (PGSimpleDataSource) PostgreSql.database().source();
    private final String prefix = "faults-" + COUNT.incrementAndGet();
    private Connection observer;

    @BeforeEach
    void connect() throws SQLException {
        observer = database.getConnection();
    }

    @AfterEach
    void disconnect() throws SQLException {
        observer.close();
    }

    private JdbcSettings settings(Duration session, Duration commandTimeout) {
        return JdbcSettings.of(prefix, JdbcSettings.DEFAULT_TABLE_PREFIX, session, commandTimeout);
    }

    private TestMember member() {
        return new TestMember(database, settings(SESSION, COMMAND_TIMEOUT));
    }

    private int execute(String sql, Object... values) {
        try (PreparedStatement p = observer.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                p.setObject(i + 1, values[i]);
            }
            return p.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private long count(String sql, String value) throws SQLException {
        try (PreparedStatement p = observer.prepareStatement(sql)) {
            p.setString(1, value);
            try (ResultSet row = p.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** The session lives in its row, so that a broken connection loses nothing. */
    @Test
    void permitsOutliveTheirConnections() throws SQLException {
        try (TestMember a = member();
                TestMember b = member()) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);

            try (Statement s = observer.createStatement()) {
                s.executeQuery("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        + " AND backend_type = 'client backend'");
            }

            await().atMost(SOON)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(b.permits("export", 1, 1)).isZero());
            int before = a.confirmations.get();
            await().atMost(SOON).until(() -> a.confirmations.get() > before);
            assertThat(a.losses).hasValue(0);
        }
    }

    @Test
    void memberWhoseRowIsGoneLosesItsPermitsAndJoinsAgain() {
        try (TestMember a = member();
                TestMember b = member()) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);

            execute("DELETE FROM distributed_permit_member WHERE id LIKE ?", a.id + "~%");

            await().atMost(SOON).untilAsserted(() -> assertThat(a.losses).hasValue(1));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(b.permits("export", 1, 1)).isEqualTo(1));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(a.permits("other", 1, 1)).isEqualTo(1));
        }
    }

    /** A statement of a member that stood still must change nothing after others have ended its session. */
    @Test
    void expiredMemberIsRemovedByTheOthersAndItsPermitsAreFree() throws SQLException {
        try (TestMember b = member()) {
            TestMember a = member();
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();

            execute(
                    "UPDATE distributed_permit_member SET id = id || '-stopped', expires = 0 WHERE id LIKE ?",
                    a.id + "~%");

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(count(
                                    "SELECT count(*) FROM distributed_permit_member WHERE id LIKE ?",
                                    a.id + "%-stopped"))
                            .isZero());
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(b.permits("export", 1, 1)).isEqualTo(1));
            a.close();
        }
    }

    @Test
    void waitingMemberIsServedByThePollWithoutARepeatedClaim() {
        try (TestMember a = member();
                TestMember b = member()) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();

            assertThat(a.permits("export", 1, 0)).isZero();

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(b.notice.get())
                            .hasValueSatisfying(
                                    holding -> assertThat(holding.permits()).isEqualTo(1)));
        }
    }

    /** A row that another transaction has locked fails the claim, and the connection can be used for others. */
    @Test
    void foreignLockOnARowFailsItsClaimsOnly() throws SQLException {
        try (TestMember a = member()) {
            assertThat(a.permits("locked", 1, 1)).isEqualTo(1);
            observer.setAutoCommit(false);
            execute("UPDATE distributed_permit_key SET touched = touched WHERE name = ?", prefix + ":locked");

            assertThatThrownBy(() -> a.permits("locked", 1, 0))
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            PermitStoreException.class,
                            e -> assertThat(e.isPermanent()).isFalse())
                    .hasMessageContaining("55P03");
            assertThat(a.permits("other", 1, 1)).isEqualTo(1);

            observer.rollback();
            observer.setAutoCommit(true);
            await().atMost(SOON)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(a.permits("locked", 1, 0)).isZero());
        }
    }

    /** Its process is stopped, or its host has vanished: the server ends the transaction. */
    @Test
    void memberThatStandsStillWithinABatchDoesNotKeepItsRowsLocked() throws SQLException {
        JdbcLink stopped = new JdbcLink(database, settings(SESSION, Duration.ofSeconds(3)), Optional.empty());
        try (TestMember other = member()) {
            assertThat(other.permits("locked", 1, 1)).isEqualTo(1);
            stopped.connection().setAutoCommit(false);
            try (PreparedStatement p = stopped.connection()
                    .prepareStatement("UPDATE distributed_permit_key SET touched = touched WHERE name = ?")) {
                p.setString(1, prefix + ":locked");
                assertThat(p.executeUpdate()).isOne();
            }
            await().atMost(SOON)
                    .ignoreExceptions()
                    .untilAsserted(
                            () -> assertThat(other.permits("locked", 1, 0)).isZero());
        } finally {
            stopped.discard();
        }
    }

    @Test
    void missingTableIsAPermanentFailureThatSaysWhatToDo() {
        JdbcSettings settings = JdbcSettings.of(prefix, "absent_", SESSION, COMMAND_TIMEOUT);

        assertThatThrownBy(() -> new JdbcPermitBackend(database, "", settings).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("absent_key")
                .hasMessageContaining("distributed-permit.jdbc.initialize-schema=always");
    }

    /** The default one would lead it to other tables than the others have, with limits of their own. */
    @Test
    void userWithAnotherSearchPathNeedsTheSchemaInThePrefixOfTheTables() {
        String user = "elsewhere_" + COUNT.incrementAndGet();
        execute("CREATE USER " + user + " SUPERUSER");
        execute("CREATE SCHEMA " + user);
        execute("ALTER USER " + user + " SET search_path = " + user);
        PGSimpleDataSource elsewhere =
                (PGSimpleDataSource) PostgreSql.database().source();
        elsewhere.setUser(user);

        assertThatThrownBy(() -> new JdbcPermitBackend(elsewhere, "", settings(SESSION, COMMAND_TIMEOUT)).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("distributed_permit_key");

        try (TestMember a = member();
                TestMember b = new TestMember(
                        elsewhere, JdbcSettings.of(prefix, "public.distributed_permit_", SESSION, COMMAND_TIMEOUT))) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();
        }
    }

    /** With others a statement would end at any lock, or a change would fail beside one of another member. */
    @Test
    void settingsOfTheUserAreReplaced() throws SQLException {
        String user = "impatient_" + COUNT.incrementAndGet();
        execute("CREATE USER " + user + " SUPERUSER");
        for (String setting : new String[] {
            "statement_timeout = '5s'",
            "lock_timeout = '1ms'",
            "default_transaction_isolation = 'serializable'",
            "synchronous_commit = 'remote_apply'"
        }) {
            execute("ALTER USER " + user + " SET " + setting);
        }
        PGSimpleDataSource theirs = (PGSimpleDataSource) PostgreSql.database().source();
        theirs.setUser(user);
        JdbcLink link = new JdbcLink(theirs, settings(SESSION, COMMAND_TIMEOUT), Optional.empty());
        try {
            for (String[] expected : new String[][] {
                {"statement_timeout", "4500ms"},
                {"lock_timeout", "2250ms"},
                {"transaction_isolation", "read committed"},
                {"synchronous_commit", "off"}
            }) {
                String seen =
                        Sql.query(link.connection(), "SHOW " + expected[0], row -> row.next() ? row.getString(1) : "");
                assertThat(seen).as(expected[0]).isEqualTo(expected[1]);
            }
        } finally {
            link.discard();
        }
    }

    /** Those of docs/sql.md suffice, and a missing one is named. */
    @Test
    void userNeedsFourRightsOnThreeTables() throws SQLException {
        String user = "permits_" + COUNT.incrementAndGet();
        execute("CREATE USER " + user);
        execute("GRANT SELECT, INSERT, UPDATE, DELETE ON distributed_permit_key, distributed_permit_member,"
                + " distributed_permit_epoch TO " + user);
        PGSimpleDataSource limited = (PGSimpleDataSource) PostgreSql.database().source();
        limited.setUser(user);
        try (TestMember a = new TestMember(limited, settings(SESSION, COMMAND_TIMEOUT))) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);

            execute("REVOKE UPDATE ON distributed_permit_key FROM " + user);

            assertThatThrownBy(() -> a.permits("export", 1, 0))
                    .cause()
                    .isInstanceOfSatisfying(
                            PermitStoreException.class,
                            e -> assertThat(e.isPermanent()).isTrue())
                    .hasMessageContaining("42501");
            execute("GRANT UPDATE ON distributed_permit_key TO " + user);
        }
    }

    @Test
    void rowOfANewerVersionIsLeftAsItIs() throws SQLException {
        String text = "distributed-permit 99 99\n0 -\n";
        execute("INSERT INTO distributed_permit_key VALUES (?, 1, 1, 1, 0, ?)", prefix + ":newer", text);
        try (TestMember a = member()) {
            assertThatThrownBy(() -> a.permits("newer", 1, 1))
                    .cause()
                    .isInstanceOfSatisfying(
                            PermitStoreException.class,
                            e -> assertThat(e.isPermanent()).isTrue())
                    .hasMessageContaining("format 99")
                    .hasMessageContaining(prefix + ":newer");
        }
        assertThat(count("SELECT count(*) FROM distributed_permit_key WHERE document = ?", text))
                .isEqualTo(1);
    }

    @Test
    void rowOfAnotherProgramIsLeftAsItIs() {
        execute("INSERT INTO distributed_permit_key VALUES (?, 1, 1, 1, 0, 'hello')", prefix + ":foreign");
        try (TestMember a = member()) {
            assertThatThrownBy(() -> a.permits("foreign", 1, 1))
                    .cause()
                    .hasMessageContaining("is not of distributed-permit")
                    .hasMessageContaining("delete the row");
        }
    }

    /** As firewalls do as well, without a word. The claim that finds its connection ended would fail. */
    @Test
    void connectionForClaimsIsUsedBeforeTheServerEndsItAsIdle() {
        PGSimpleDataSource impatient =
                (PGSimpleDataSource) PostgreSql.database().source();
        impatient.setOptions("-c idle_session_timeout=9s");
        try (TestMember a = new TestMember(impatient, settings(Duration.ofSeconds(6), Duration.ofSeconds(2)))) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            int before = a.confirmations.get();

            await().atMost(SOON).until(() -> a.confirmations.get() >= before + 20); // ten in six seconds

            assertThat(a.permits("export", 1, 0)).isZero();
        }
    }

    @Test
    void memberKeepsTwoConnectionsAndClosesThem() throws SQLException {
        String connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?";
        PGSimpleDataSource named = (PGSimpleDataSource) PostgreSql.database().source();
        named.setApplicationName(prefix);
        try (TestMember other = member()) {
            TestMember a = new TestMember(named, settings(SESSION, COMMAND_TIMEOUT));
            for (int i = 0; i < 50; i++) {
                assertThat(a.permits("key-" + i, 1, 1)).isEqualTo(1);
            }
            assertThat(count(connections, prefix)).isEqualTo(2);
            a.close();

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(count(connections, prefix)).isZero());
            // A member that could not end its session at once is removed by the others when it has expired.
            assertThat(other.permits("other", 1, 1)).isEqualTo(1);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(count(
                                    "SELECT count(*) FROM distributed_permit_member WHERE id LIKE ?", a.id + "~%"))
                            .isZero());
        }
    }
}
