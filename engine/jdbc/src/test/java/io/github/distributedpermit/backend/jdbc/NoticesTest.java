package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** How a waiting member receives that another one has served it, on a real PostgreSQL server. */
class NoticesTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final PGSimpleDataSource database =
            (PGSimpleDataSource) PostgreSql.database().source();
    private final JdbcSettings settings = JdbcSettings.of(
            "notices-" + COUNT.incrementAndGet(),
            JdbcSettings.DEFAULT_TABLE_PREFIX,
            Duration.ofSeconds(12),
            Duration.ofSeconds(4));

    /** Counts how often keys are read. */
    private static final class Reads {

        final AtomicInteger count = new AtomicInteger();

        DataSource of(DataSource source) {
            return wrap(DataSource.class, source);
        }

        private <T> T wrap(Class<T> type, T real) {
            return type.cast(Proxy.newProxyInstance(
                    NoticesTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement")
                                && arguments[0].toString().startsWith("SELECT name, revision")) {
                            count.incrementAndGet();
                        }
                        try {
                            Object result = method.invoke(real, arguments);
                            return result instanceof Connection c
                                            && method.getName().equals("getConnection")
                                    ? wrap(Connection.class, c)
                                    : result;
                        } catch (InvocationTargetException e) {
                            throw Objects.requireNonNull(e.getCause());
                        }
                    }));
        }
    }

    @Test
    void waitingMemberReadsNothingUntilItIsServed() {
        Reads reads = new Reads();
        try (TestMember a = new TestMember(database, settings);
                TestMember b = new TestMember(reads.of(database), settings)) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();
            awaitRenewals(b, 1); // a new connection is read once, since notices may have been lost before

            int before = reads.count.get();
            awaitRenewals(b, 3);
            assertThat(reads.count).hasValue(before);

            assertThat(a.permits("export", 1, 0)).isZero();
            awaitPermits(b, 1);
            assertThat(reads.count).hasValue(before + 1);
        }
    }

    @Test
    void noticesGoOnOverTheNextConnection() throws SQLException {
        try (TestMember a = new TestMember(database, settings);
                TestMember b = new TestMember(database, settings);
                Connection observer = database.getConnection();
                Statement s = observer.createStatement()) {
            assertThat(a.permits("export", 1, 1)).isEqualTo(1);
            assertThat(b.permits("export", 1, 1)).isZero();

            s.executeQuery("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    + " AND backend_type = 'client backend'");

            await().atMost(SOON)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(a.permits("export", 1, 0)).isZero());
            awaitPermits(b, 1);
            assertThat(b.losses).hasValue(0);
        }
    }

    /** It executes each transaction over any of its connections, so that no notice arrives, and settings reach other clients. */
    @Test
    void membersBehindPgBouncerPollAndLeaveItsConnectionsAsTheyAre() throws SQLException {
        List<String> warnings = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                if (record.getMessage().contains("PgBouncer")) {
                    warnings.add(record.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger log = Logger.getLogger(JdbcLink.class.getName());
        log.addHandler(handler);
        try (PgBouncer proxy = new PgBouncer();
                TestMember a = new TestMember(proxy.source(), settings);
                TestMember b = new TestMember(proxy.source(), settings)) {
            for (int i = 0; i < 5; i++) {
                assertThat(a.permits("export", 1, 1)).isEqualTo(1);
                b.notice.set(Optional.empty());
                assertThat(b.permits("export", 1, 1)).isZero();
                assertThat(a.permits("export", 1, 0)).isZero();
                awaitPermits(b, 1);
                assertThat(b.permits("export", 1, 0)).isZero();
            }
            awaitRenewals(a, 3);
            assertThat(a.losses).hasValue(0);
            assertThat(warnings).hasSize(2); // each member once

            try (Connection one = proxy.source().getConnection();
                    Connection two = proxy.source().getConnection()) {
                one.setAutoCommit(false); // each has one of the two connections of the proxy for itself
                two.setAutoCommit(false);
                for (Connection c : List.of(one, two)) {
                    assertThat(setting(c, "lock_timeout")).isEqualTo("0");
                    assertThat(setting(c, "statement_timeout")).isEqualTo("0");
                    assertThat(setting(c, "idle_in_transaction_session_timeout"))
                            .isEqualTo("0");
                    assertThat(setting(c, "synchronous_commit")).isEqualTo("on");
                    assertThat(setting(c, "transaction_isolation")).isEqualTo("repeatable read");
                }
            }
        } finally {
            log.removeHandler(handler);
        }
    }

    private static String setting(Connection c, String name) throws SQLException {
        try (Statement s = c.createStatement();
                ResultSet row = s.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void awaitRenewals(TestMember member, int count) {
        int before = member.confirmations.get();
        await().atMost(SOON).until(() -> member.confirmations.get() >= before + count);
    }

    private static void awaitPermits(TestMember member, int permits) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(member.notice.get())
                        .hasValueSatisfying(
                                holding -> assertThat(holding.permits()).isEqualTo(permits)));
    }
}
