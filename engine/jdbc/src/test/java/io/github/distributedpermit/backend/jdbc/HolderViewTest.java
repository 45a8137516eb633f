package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What operators read with SQL. */
class HolderViewTest {

    private static List<Arguments> databases() {
        Supplier<Database> postgres = PostgreSql::database;
        Supplier<Database> maria = MariaDb::database;
        Supplier<Database> h2 = H2::database;
        return List.of(
                Arguments.argumentSet("PostgreSQL", postgres),
                Arguments.argumentSet("MariaDB", maria),
                Arguments.argumentSet("H2", h2));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void viewShowsWhoHoldsAndWhoWaits(Supplier<Database> chosen) throws SQLException {
        Database database = chosen.get();
        JdbcSettings settings = JdbcSettings.of(
                "view-" + UUID.randomUUID(),
                JdbcSettings.DEFAULT_TABLE_PREFIX,
                Duration.ofSeconds(20),
                Duration.ofSeconds(5));
        try (TestMember other = new TestMember(database.source(), settings)) {
            assertThat(other.permits("other", 1, 1)).isEqualTo(1);
            showsWhoHoldsAndWhoWaits(database, settings);
            // A member that could not end its session at once is removed by the others when it has expired.
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(rows(database, settings)).isEmpty());
        }
    }

    private static void showsWhoHoldsAndWhoWaits(Database database, JdbcSettings settings) throws SQLException {
        try (TestMember a = new TestMember(database.source(), settings);
                TestMember b = new TestMember(database.source(), settings)) {
            assertThat(a.permits("export", 2, 2)).isEqualTo(2);
            assertThat(b.permits("export", 3, 3)).isEqualTo(1);

            assertThat(rows(database, settings))
                    .containsExactlyInAnyOrder(
                            "%s 2 of 2, limit 2".formatted(a.id), "%s 1 of 3, limit 3, waits".formatted(b.id));

            assertThat(a.permits("export", 2, 0)).isZero();
            assertThat(rows(database, settings)).containsExactly("%s 3 of 3, limit 3".formatted(b.id));
        }
    }

    private static List<String> rows(Database database, JdbcSettings settings) throws SQLException {
        try (Connection c = database.source().getConnection()) {
            return Sql.query(
                    c,
                    "SELECT instance, permits, wanted, stated_limit, waits, alive_until FROM distributed_permit_holder"
                            + " WHERE permit_key = ?",
                    found -> {
                        List<String> rows = new ArrayList<>();
                        while (found.next()) {
                            assertThat(found.getTimestamp(6)).isNotNull();
                            rows.add("%s %d of %d, limit %d%s"
                                    .formatted(
                                            found.getString(1),
                                            found.getInt(2),
                                            found.getInt(3),
                                            found.getInt(4),
                                            found.getBoolean(5) ? ", waits" : ""));
                        }
                        return rows;
                    },
                    settings.prefix() + ":export");
        }
    }
}
