package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.Logged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of keys that no member uses any more. */
class SweepTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int KEYS = 2 * Statements.ORPHANS + 1;

    private final JdbcSettings settings = new JdbcSettings(
            "sweep-" + UUID.randomUUID(),
            JdbcSettings.DEFAULT_TABLE_PREFIX,
            Duration.ofSeconds(12),
            Duration.ofSeconds(4),
            Duration.ofMillis(50));
    private final String session = settings.prefix() + "~1";

    private static List<Arguments> databases() {
        Supplier<Database> postgres = PostgreSql::database;
        Supplier<Database> maria = MariaDb::database;
        Supplier<Database> h2 = H2::database;
        return List.of(
                Arguments.argumentSet("PostgreSQL", postgres),
                Arguments.argumentSet("MariaDB", maria),
                Arguments.argumentSet("H2", h2));
    }

    /** Nothing else would change them: each key has another name, as those of users and orders have. */
    @ParameterizedTest
    @MethodSource("databases")
    void rowsWhoseHoldersHaveAllDiedAreDeleted(Supplier<Database> chosen) throws SQLException {
        Database database = chosen.get();
        try (Connection observer = database.source().getConnection();
                TestMember alive = new TestMember(database.source(), settings)) {
            TestMember dead = new TestMember(database.source(), settings);
            for (int i = 0; i < KEYS; i++) {
                assertThat(dead.permits("dead-" + i, 1, 1)).isEqualTo(1);
            }
            assertThat(dead.permits("limited", 1, 1)).isEqualTo(1);
            dead.store()
                    .override("limited", OverrideLimit.of(7))
                    .toCompletableFuture()
                    .join();
            assertThat(dead.permits("shared", 2, 1)).isEqualTo(1);
            assertThat(alive.permits("shared", 2, 1)).isEqualTo(1);
            String foreign = settings.prefix() + ":a-row-of-others";
            Sql.update(observer, "INSERT INTO distributed_permit_key VALUES (?, 1, 1, 1, 0, 'hello')", foreign);

            Sql.update(observer, "DELETE FROM distributed_permit_member WHERE id LIKE ?", dead.id + "~%");
            dead.close();

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(rows(observer).keySet())
                            .containsExactly(foreign, settings.prefix() + ":limited", settings.prefix() + ":shared"));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(rows(observer).get(settings.prefix() + ":limited"))
                            .doesNotContain(dead.id));
            assertThat(rows(observer).get(foreign)).isEqualTo("hello");
            assertThat(alive.permits("shared", 2, 2)).isEqualTo(2);
            assertThat(alive.store()
                            .inspect("limited")
                            .toCompletableFuture()
                            .join()
                            .override())
                    .isEqualTo(OverrideLimit.of(7));
        }
    }

    /** Its sessions and its epoch are others. */
    @ParameterizedTest
    @MethodSource("databases")
    void rowsOfALongerPrefixAreLeft(Supplier<Database> chosen) throws SQLException {
        Database database = chosen.get();
        JdbcSettings longer = JdbcSettings.of(
                settings.prefix() + ":b", settings.tablePrefix(), Duration.ofSeconds(20), Duration.ofSeconds(5));
        try (Connection observer = database.source().getConnection();
                TestMember other = new TestMember(database.source(), longer);
                TestMember alive = new TestMember(database.source(), settings)) {
            assertThat(other.permits("held", 1, 1)).isEqualTo(1);
            Map<String, String> before = rows(observer);
            TestMember dead = new TestMember(database.source(), settings);
            assertThat(dead.permits("z", 1, 1)).isEqualTo(1); // swept behind the other row
            Sql.update(observer, "DELETE FROM distributed_permit_member WHERE id LIKE ?", dead.id + "~%");
            dead.close();

            assertThat(alive.permits("any", 1, 0)).isZero();
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(rows(observer)).doesNotContainKey(settings.prefix() + ":z"));
            assertThat(rows(observer)).containsAllEntriesOf(before);
        }
    }

    /** Not only those of one statement every ten minutes, while more keys fall out of use. */
    @ParameterizedTest
    @MethodSource("databases")
    void nextRenewalDeletesWhatOneStatementLeaves(Supplier<Database> chosen) throws SQLException {
        Database database = chosen.get();
        AtomicLong clock = new AtomicLong();
        try (Connection observer = database.source().getConnection();
                JdbcClient client = client(database, clock)) {
            unused(observer, Statements.UNUSED + 1);
            client.begin(session, settings.session());

            clock.addAndGet(Duration.ofMinutes(10).toNanos());
            client.renew(session, settings.session(), settings.session());
            assertThat(rows(observer)).isNotEmpty();
            client.renew(session, settings.session(), settings.session());

            assertThat(rows(observer)).isEmpty();
            client.end(session);
        }
    }

    @Test
    void secondFailureInARowIsLogged() throws SQLException {
        Database database = PostgreSql.database();
        AtomicLong clock = new AtomicLong();
        Duration length = Duration.ofMinutes(1); // longer than three attempts wait for the lock
        try (Connection observer = database.source().getConnection();
                Connection other = database.source().getConnection();
                JdbcClient client = client(database, clock);
                Logged logged = new Logged(JdbcClient.class)) {
            unused(observer, 1);
            client.begin(session, length);
            other.setAutoCommit(false);
            Sql.update(other, "UPDATE distributed_permit_key SET touched = 1");

            for (int attempt = 1; attempt <= 3; attempt++) {
                clock.addAndGet(Duration.ofMinutes(10).toNanos());
                client.renew(session, length, length);
                assertThat(logged.texts()).hasSize(attempt == 1 ? 0 : 1);
            }
            other.rollback();
            clock.addAndGet(Duration.ofMinutes(10).toNanos());
            client.renew(session, length, length);
            assertThat(rows(observer)).isEmpty();
            client.end(session);
        }
    }

    /** With the usual time for rows of unused keys. */
    private JdbcClient client(Database database, AtomicLong clock) {
        JdbcSettings usual = JdbcSettings.of(
                settings.prefix(), settings.tablePrefix(), settings.session(), settings.commandTimeout());
        JdbcLink link = new JdbcLink(database.source(), usual, Optional.empty());
        return new JdbcClient(link, usual, "test", new LiveMembers(), clock::get);
    }

    private void unused(Connection observer, int count) throws SQLException {
        for (int i = 0; i < count; i++) {
            Sql.update(
                    observer,
                    "INSERT INTO distributed_permit_key VALUES (?, 1, 1, 1, 0, '')",
                    settings.prefix() + ":unused-" + i);
        }
    }

    private Map<String, String> rows(Connection observer) throws SQLException {
        return Sql.query(
                observer,
                "SELECT name, document FROM distributed_permit_key WHERE name LIKE ?",
                found -> {
                    Map<String, String> rows = new TreeMap<>();
                    while (found.next()) {
                        rows.put(found.getString(1), found.getString(2));
                    }
                    return rows;
                },
                settings.prefix() + "%");
    }
}
