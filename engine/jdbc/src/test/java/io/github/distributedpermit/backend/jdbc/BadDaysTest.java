package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.spi.PermitStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Servers that stand still, that show a wrong time, or that cannot be used at all. */
class BadDaysTest {

    private static final int MOST_JUMPS = 10;
    private static final Duration SOON = Duration.ofSeconds(60);

    private final JdbcSettings settings =
            JdbcSettings.of("days", JdbcSettings.DEFAULT_TABLE_PREFIX, Duration.ofSeconds(15), Duration.ofSeconds(5));

    /** A query time-out would end the statement only when the server goes on. */
    @Test
    void statementOnAFrozenServerIsGivenUpAndNoConnectionStaysOpen() {
        try (PostgreSqlServer server = PostgreSqlServer.create()) {
            PGSimpleDataSource source = source(server, "frozen");
            TestMember a = new TestMember(source, settings);
            TestMember b = new TestMember(source, settings);
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();

            server.signal("STOP");
            assertThatThrownBy(() -> a.permits("export", 1, 0))
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            PermitStoreException.class,
                            e -> assertThat(e.isPermanent()).isFalse());
            a.close(); // while the calls of both threads may be stuck
            b.close();
            server.signal("CONT");

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(server.query(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'frozen'"))
                            .isEqualTo("0"));
        }
    }

    private static PGSimpleDataSource source(PostgreSqlServer server, String application) {
        PGSimpleDataSource source = server.source();
        source.setApplicationName(application);
        assertThat(new Database("postgresql", source).name()).isNotEmpty(); // has the tables
        return source;
    }

    /** Each connection would have a database of its own. */
    @Test
    void privateDatabaseInMemoryIsRefused() {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:");

        assertThatThrownBy(() -> new JdbcPermitBackend(source, "", settings).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("without a name");
    }

    @Test
    void tableOfAnotherVersionIsRefused() {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:version;DB_CLOSE_DELAY=-1");
        assertThat(new Database("h2", source).name()).isNotEmpty();
        try (Connection c = source.getConnection()) {
            Sql.update(c, "ALTER TABLE distributed_permit_key DROP COLUMN pool");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }

        assertThatThrownBy(() -> new JdbcPermitBackend(source, "", settings).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("POOL")
                .hasMessageContaining("are they of this version");
    }

    /** It may be promoted, so that it is tried again. */
    @Test
    void mariaDbThatCanOnlyBeReadIsRefused() throws SQLException {
        DataSource source = MariaDb.database().source();
        try (Connection c = source.getConnection()) {
            Sql.update(c, "SET GLOBAL read_only = ON");
            try {
                assertThatThrownBy(() -> new JdbcPermitBackend(source, "", settings).checkTables())
                        .isInstanceOfSatisfying(
                                PermitStoreException.class,
                                e -> assertThat(e.isPermanent()).isFalse())
                        .hasMessageContaining("read_only")
                        .hasMessageContaining("replica");
            } finally {
                Sql.update(c, "SET GLOBAL read_only = OFF");
            }
        }
    }

    /** Its SQLState is H2's own. */
    @Test
    void missingRightInH2IsAPermanentFailureThatSaysWhatToDo() throws SQLException {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:rights;DB_CLOSE_DELAY=-1");
        assertThat(new Database("h2", source).name()).isNotEmpty();
        try (Connection c = source.getConnection()) {
            Sql.update(c, "CREATE USER guest PASSWORD 'guest'");
            Sql.update(c, "GRANT SELECT ON distributed_permit_key, distributed_permit_epoch TO guest");
        }
        source.setURL("jdbc:h2:mem:rights"); // with a setting only an administrator can connect
        source.setUser("guest");
        source.setPassword("guest");

        assertThatThrownBy(() -> new JdbcPermitBackend(source, "", settings).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("DISTRIBUTED_PERMIT_MEMBER")
                .hasMessageContaining("may this user read and change their rows");
    }

    @Test
    void clockOfTheDatabaseThatIsSetBackEndsNoSession() throws IOException {
        Clock clock = new Clock();
        try (PostgreSqlServer server = clock.server()) {
            PGSimpleDataSource source = source(server, "clock");
            try (TestMember a = new TestMember(source, settings);
                    TestMember b = new TestMember(source, settings)) {
                assertThat(a.permits("export", 1, 1)).isEqualTo(1);
                assertThat(b.permits("export", 1, 1)).isZero();

                clock.set("-3600");
                await().atMost(SOON)
                        .until(() ->
                                Long.parseLong(server.query("SELECT extract(epoch FROM clock_timestamp())::bigint"))
                                        < System.currentTimeMillis() / 1000 - 3000);
                awaitRenewals(a, 4);

                assertThat(b.permits("export", 1, 1)).isZero();
                assertThat(a.losses).hasValue(0);
                assertThat(a.permits("export", 1, 0)).isZero();
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(b.notice.get())
                                .hasValueSatisfying(
                                        holding -> assertThat(holding.permits()).isEqualTo(1)));
            }
        }
    }

    /**
     * A named exception: the sessions of all end, and each member is notified at its next renewal. If both renew in the same
     * moment after a jump, none ends, which is no fault: then it jumps again.
     */
    @Test
    void clockOfTheDatabaseThatJumpsAheadEndsSessionsWithANotice() throws IOException {
        Clock clock = new Clock();
        try (PostgreSqlServer server = clock.server()) {
            PGSimpleDataSource source = source(server, "clock");
            try (TestMember a = new TestMember(source, settings);
                    TestMember b = new TestMember(source, settings)) {
                assertThat(a.permits("export", 1, 1)).isEqualTo(1);
                assertThat(b.permits("export", 1, 1)).isZero();

                for (int hours = 1; a.losses.get() + b.losses.get() == 0 && hours <= MOST_JUMPS; hours++) {
                    clock.set("+" + TimeUnit.HOURS.toSeconds(hours));
                    awaitRenewals(a, 2);
                    awaitRenewals(b, 2);
                }
                assertThat(a.losses.get() + b.losses.get()).isPositive();
                await().atMost(SOON)
                        .ignoreExceptions()
                        .untilAsserted(() -> assertThat(a.permits("export", 1, 1) + b.permits("export", 1, 1))
                                .isEqualTo(1));
            }
        }
    }

    private static void awaitRenewals(TestMember member, int count) {
        int before = member.confirmations.get();
        await().atMost(SOON).until(() -> member.confirmations.get() >= before + count);
    }

    /** The clock of a server, as Debian's libfaketime shows it. */
    private static final class Clock {

        private final Path file;
        private final Path library;

        Clock() throws IOException {
            library = debian().resolve("usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1");
            file = Files.createTempFile("distributed-permit", ".clock");
            set("+0");
        }

        private static Path debian() {
            try {
                return DebianPackages.unpacked("faketime", "libfaketime");
            } catch (IllegalStateException e) {
                String remedy = "No libfaketime for the tests: Debian needs nothing but a reachable mirror.";
                if ("true".equals(System.getenv("CI"))) {
                    throw new AssertionError(remedy, e);
                }
                System.getLogger(BadDaysTest.class.getName())
                        .log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + remedy);
                return Assumptions.abort(remedy);
            }
        }

        PostgreSqlServer server() {
            return PostgreSqlServer.create(Map.of(
                    "LD_PRELOAD",
                    library.toString(),
                    "FAKETIME_TIMESTAMP_FILE",
                    file.toString(),
                    "FAKETIME_NO_CACHE",
                    "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC",
                    "1"));
        }

        /** Seconds from the present time, with a sign. */
        void set(String offset) throws IOException {
            Files.writeString(file, offset + "\n");
        }
    }

    /** Dead rows cannot be removed while an old transaction might see them, and each claim reads them. */
    @Test
    void oldTransactionThatKeepsDeadRowsIsNamed() throws Exception {
        List<String> warnings = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                warnings.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger log = Logger.getLogger(JdbcClient.class.getName());
        log.addHandler(handler);
        try (PostgreSqlServer server = PostgreSqlServer.create()) {
            PGSimpleDataSource source = source(server, "old");
            JdbcSettings sweeping = new JdbcSettings(
                    "old",
                    settings.tablePrefix(),
                    Duration.ofSeconds(2),
                    settings.commandTimeout(),
                    Duration.ofMillis(10));
            try (Connection old = source.getConnection();
                    TestMember a = new TestMember(source, sweeping)) {
                old.setAutoCommit(false);
                old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
                Sql.query(old, "SELECT 1 FROM distributed_permit_key", rows -> rows.next());
                assertThat(a.permits("export", 1, 1)).isEqualTo(1);
                server.execute("INSERT INTO distributed_permit_key SELECT 'dead' || i, 1, 1, 1, 0, '' FROM"
                        + " generate_series(1, 11000) i");
                server.execute("DELETE FROM distributed_permit_key WHERE name LIKE 'dead%'");

                await().atMost(SOON)
                        .untilAsserted(() ->
                                assertThat(warnings).anyMatch(w -> w.contains("keeps 11") && w.contains("dead rows")));
            }
        } finally {
            log.removeHandler(handler);
        }
    }
}
