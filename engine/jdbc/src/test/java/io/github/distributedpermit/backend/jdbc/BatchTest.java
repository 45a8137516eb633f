package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore.Change;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Changes of several keys that are committed together, and how many are read together. */
class BatchTest {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final List<String> KEYS = List.of("c", "a", "b");

    private final JdbcSettings settings = JdbcSettings.of(
            "batch-" + UUID.randomUUID(), JdbcSettings.DEFAULT_TABLE_PREFIX, SESSION, Duration.ofSeconds(5));
    private final String session = "member-" + settings.prefix() + "~1";
    /** Which of the next statements fails. */
    private int failing;

    /** The most that a query had. */
    private final AtomicInteger parameters = new AtomicInteger();

    private Database database = H2.database();
    private JdbcClient client = client();
    private long sequence;

    private static List<Arguments> databases() {
        Supplier<Database> postgres = PostgreSql::database;
        Supplier<Database> maria = MariaDb::database;
        Supplier<Database> h2 = H2::database;
        return List.of(
                Arguments.argumentSet("PostgreSQL", postgres),
                Arguments.argumentSet("MariaDB", maria),
                Arguments.argumentSet("H2", h2));
    }

    private JdbcClient client() {
        return new JdbcClient(
                new JdbcLink(Intercepted.of(database.source(), this::executed), settings, Optional.empty()),
                settings,
                "test",
                new LiveMembers(),
                System::nanoTime);
    }

    private void executed(String sql) {
        if (sql.startsWith("SELECT")) {
            parameters.accumulateAndGet((int) sql.chars().filter(c -> c == '?').count(), Math::max);
        }
        if (--failing == 0) {
            throw new OutOfMemoryError("The test");
        }
    }

    private void use(Supplier<Database> chosen) {
        database = chosen.get();
        client = client();
        client.begin(session, SESSION);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private List<Commit<JdbcSnapshot>> commit(List<String> keys, Map<String, JdbcSnapshot> before) {
        sequence++;
        return client.commit(keys.stream()
                .map(key -> claim(key, Objects.requireNonNull(before.get(key))))
                .toList());
    }

    /** One permit more. */
    private Change<JdbcSnapshot> claim(String key, JdbcSnapshot before) {
        return claim(key, before, before.table());
    }

    private Change<JdbcSnapshot> claim(String key, JdbcSnapshot before, KeyTable table) {
        int wanted = (int) sequence;
        long epoch = before.epoch().number();
        Claim claim = Claim.of(key, sequence, SESSION)
                .limit(9)
                .wanted(wanted)
                .queued(1)
                .reclaim(Claim.Reclaim.of(0, epoch));
        Step step = table.claim(session, claim, before.version(), before.version() + 1);
        return new Change<>(
                key,
                new PlannedCommit<>(
                        key, new StoreSession(session, 1), before, table, step, false, Optional.of(claim), true));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void conflictOfOneKeyKeepsNoOtherFromBeingChanged(Supplier<Database> chosen) {
        use(chosen);
        assertThat(commit(KEYS, client.read(KEYS))).allMatch(c -> c instanceof Commit.Done);
        Map<String, JdbcSnapshot> before = client.read(KEYS);
        assertThat(commit(List.of("a"), before)).allMatch(c -> c instanceof Commit.Done);

        List<Commit<JdbcSnapshot>> outcomes = commit(KEYS, before);

        assertThat(outcomes.get(0)).isInstanceOf(Commit.Done.class);
        assertThat(outcomes.get(1)).isInstanceOf(Commit.Conflict.class);
        assertThat(outcomes.get(2)).isInstanceOf(Commit.Done.class);
        Map<String, JdbcSnapshot> after = client.read(KEYS);
        assertThat(KEYS)
                .map(key -> Objects.requireNonNull(after.get(key)).table().used())
                .containsExactly(3, 2, 3);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void lockedRowFailsItsOwnChangeOnly(Supplier<Database> chosen) throws SQLException {
        use(chosen);
        assertThat(commit(KEYS, client.read(KEYS))).allMatch(c -> c instanceof Commit.Done);
        Map<String, JdbcSnapshot> before = client.read(KEYS);
        try (Connection other = database.source().getConnection()) {
            other.setAutoCommit(false);
            Sql.update(
                    other,
                    "UPDATE distributed_permit_key SET touched = touched + 1 WHERE name = ?",
                    settings.prefix() + ":b");

            List<Commit<JdbcSnapshot>> outcomes = commit(KEYS, before);

            assertThat(outcomes.get(0)).isInstanceOf(Commit.Done.class);
            assertThat(outcomes.get(1)).isInstanceOf(Commit.Done.class);
            assertThat(outcomes.get(2)).isNotInstanceOf(Commit.Done.class);
            other.rollback();
        }
        assertThat(commit(List.of("b"), before)).allMatch(c -> c instanceof Commit.Done);
    }

    /** Its transaction would stay open, and a change that follows be part of it. */
    @ParameterizedTest
    @MethodSource("databases")
    void changeAfterAnErrorWithinABatchIsCommitted(Supplier<Database> chosen) {
        use(chosen);
        commit(KEYS, client.read(KEYS));
        Map<String, JdbcSnapshot> before = client.read(KEYS);

        // PostgreSQL has one execution for all.
        failing = chosen.get().name().equals("postgresql") ? 1 : 2;
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> commit(KEYS, before));

        assertChangeIsCommitted();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void changeAfterAnErrorWithinAnEvictionIsCommitted(Supplier<Database> chosen) {
        use(chosen);
        commit(KEYS, client.read(KEYS));

        failing = 3; // after the reading of the row, and its change
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> client.evict("a", "member-" + settings.prefix()));

        assertChangeIsCommitted();
    }

    /** What another member sees once the connection has ended. */
    private void assertChangeIsCommitted() {
        // The server keeps the row locked until it notices the end of the connection.
        await().until(() -> {
            List<String> key = List.of("a");
            return commit(key, client.read(key)).get(0) instanceof Commit.Done;
        });
        client.close();
        JdbcSnapshot after = Objects.requireNonNull(client().read(List.of("a")).get("a"));
        assertThat(after.table().used()).isEqualTo((int) sequence);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void sessionsAreLookedUpInStatementsOfBoundedLength(Supplier<Database> chosen) {
        use(chosen);
        JdbcSnapshot before = Objects.requireNonNull(client.read(List.of("a")).get("a"));
        KeyTable table = before.table();
        for (int i = 0; i < 100; i++) {
            Claim waits = Claim.of("a", 1, SESSION).limit(9).wanted(1).queued(1);
            table.claim("other-" + i + "~1", waits, before.version(), before.version() + 1);
        }
        sequence = 1;
        assertThat(client.commit(List.of(claim("a", before, table)))).allMatch(c -> c instanceof Commit.Done);
        JdbcClient newcomer = client();

        assertThat(newcomer.read(List.of("a"))).isNotEmpty();

        assertThat(parameters).hasValue(Statements.LONGEST);
        newcomer.close();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void keysInWhoseQueuesAMemberWaitsAreReadInStatementsOfBoundedLength(Supplier<Database> chosen) {
        use(chosen);
        try (TestMember holder = new TestMember(database.source(), settings);
                TestMember waiter = new TestMember(Intercepted.of(database.source(), this::executed), settings)) {
            for (int i = 0; i < 100; i++) {
                assertThat(holder.permits("key-" + i, 1, 1)).isEqualTo(1);
                assertThat(waiter.permits("key-" + i, 1, 1)).isZero();
            }
            assertThat(holder.permits("key-0", 1, 0)).isZero();
            await().untilAsserted(() -> assertThat(waiter.notice.get()).isPresent());
        }
        assertThat(parameters).hasValue(Statements.LONGEST + 1); // the prefix
    }

    /** The driver sends no message that ends a transaction between the statements. */
    @Test
    void batchIsOneTransactionOfPostgreSql() throws SQLException {
        use(PostgreSql::database);
        String transactions =
                "SELECT count(DISTINCT xmin::text), max(xmin::text) FROM distributed_permit_key WHERE name LIKE ?";
        commit(KEYS, client.read(KEYS));
        try (Connection observer = database.source().getConnection()) {
            String created = Sql.query(observer, transactions, BatchTest::only, settings.prefix() + "%");
            commit(KEYS, client.read(KEYS));
            assertThat(Sql.query(observer, transactions, BatchTest::only, settings.prefix() + "%"))
                    .isNotEqualTo(created);
        }
    }

    private static String only(ResultSet row) throws SQLException {
        assertThat(row.next()).isTrue();
        assertThat(row.getInt(1)).isEqualTo(1);
        return row.getString(2);
    }
}
