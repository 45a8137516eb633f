package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** In which epoch a client reads and writes, on each database. */
class EpochTest {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration VALID = Duration.ofSeconds(18);
    private static final long MICROS = 1_000_000;

    private final JdbcSettings settings = JdbcSettings.of(
            "epoch-" + UUID.randomUUID(), JdbcSettings.DEFAULT_TABLE_PREFIX, SESSION, Duration.ofSeconds(5));
    private final String key = "k";
    private final String first = "first-" + settings.prefix() + "~1";
    private final String second = "second-" + settings.prefix() + "~1";

    private Database database = H2.database();
    private JdbcClient one = client();
    private JdbcClient two = client();

    private static List<Arguments> databases() {
        Supplier<Database> postgres = PostgreSql::database;
        Supplier<Database> maria = MariaDb::database;
        Supplier<Database> h2 = H2::database;
        return List.of(
                Arguments.argumentSet("PostgreSQL", postgres),
                Arguments.argumentSet("MariaDB", maria),
                Arguments.argumentSet("H2", h2));
    }

    private void use(Supplier<Database> chosen) {
        database = chosen.get();
        one = client();
        two = client();
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    private JdbcClient client() {
        return client(new LiveMembers());
    }

    private JdbcClient client(LiveMembers live) {
        return new JdbcClient(
                new JdbcLink(database.source(), settings, Optional.empty()), settings, "test", live, System::nanoTime);
    }

    private void execute(String sql, Object... values) {
        try (Connection c = database.source().getConnection()) {
            Sql.update(c, sql, values);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private JdbcSnapshot read(JdbcClient client) {
        return Objects.requireNonNull(client.read(List.of(key)).get(key));
    }

    private Commit<JdbcSnapshot> claimOne(JdbcClient client, String session, JdbcSnapshot before) {
        KeyTable table = before.table();
        Claim claim = Claim.of(key, 1, SESSION)
                .limit(3)
                .wanted(1)
                .queued(1)
                .reclaim(Claim.Reclaim.of(0, before.epoch().number()));
        Step step = table.claim(session, claim, before.version(), before.version() + 1);
        PlannedCommit<JdbcSnapshot> planned = new PlannedCommit<>(
                key, new StoreSession(session, 1), before, table, step, false, Optional.of(claim), true);
        return client.commit(List.of(new BatchingSnapshotStore.Change<>(key, planned)))
                .get(0);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void firstMemberOfAllHasNoGraceToWaitFor(Supplier<Database> chosen) {
        use(chosen);
        one.begin(first, SESSION);

        assertThat(read(one).epoch().graceEnd(0)).isEmpty();
        assertThat(claimOne(one, first, read(one))).isInstanceOf(Commit.Done.class);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void anotherServerBeginsTheNextEpochWithAGraceOfTheLongestLease(Supplier<Database> chosen) {
        use(chosen);
        long epoch = one.begin(first, Duration.ofSeconds(60));
        two.begin(second, SESSION);
        assertThat(two.renew(second, SESSION, VALID).epoch()).isEqualTo(epoch); // has seen the lease of the other one
        assertThat(claimOne(two, second, read(two))).isInstanceOf(Commit.Done.class);
        assertThat(read(two).table().used()).isEqualTo(1);
        execute("DELETE FROM distributed_permit_member WHERE id = ?", first); // lost
        execute("UPDATE distributed_permit_epoch SET server = 'other' WHERE prefix = ?", settings.prefix());

        assertThatThrownBy(() -> read(two))
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isFalse())
                .hasMessageContaining("may have lost permits");
        BatchingSnapshotStore.Renewal renewal = two.renew(second, SESSION, VALID);

        assertThat(renewal.alive()).isTrue();
        assertThat(renewal.epoch()).isGreaterThan(epoch);
        JdbcSnapshot now = read(two);
        assertThat(now.table().used()).isZero(); // what was recorded before is void
        assertThat(now.epoch().graceEnds() - now.epoch().now()).isBetween(50 * MICROS, 70 * MICROS);
    }

    /** Its row may be about to be deleted, as expired; what it reclaimed would be free then, and counted as having come back. */
    @ParameterizedTest
    @MethodSource("databases")
    void memberChangesNothingInTheNextEpochBeforeItHasRenewedItsSessionThere(Supplier<Database> chosen) {
        use(chosen);
        one.begin(first, SESSION);
        two.begin(second, SESSION);
        execute("UPDATE distributed_permit_epoch SET server = 'other' WHERE prefix = ?", settings.prefix());
        two.renew(second, SESSION, VALID);

        assertThat(claimOne(one, first, read(one))).isInstanceOf(Commit.Conflict.class);
        one.renew(first, SESSION, VALID);
        assertThat(claimOne(one, first, read(one))).isInstanceOf(Commit.Done.class);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void changeThatRestsOnAnEarlierEpochIsNotMade(Supplier<Database> chosen) {
        use(chosen);
        one.begin(first, SESSION);
        JdbcSnapshot before = read(one);
        execute("UPDATE distributed_permit_epoch SET server = 'other' WHERE prefix = ?", settings.prefix());

        assertThat(claimOne(one, first, before)).isInstanceOf(Commit.Conflict.class); // nothing was found yet
        one.renew(first, SESSION, VALID);
        assertThat(claimOne(one, first, before)).isInstanceOf(Commit.Conflict.class);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void oldRowOfTheMemberShowsAnOldCopy(Supplier<Database> chosen) {
        use(chosen);
        long epoch = one.begin(first, SESSION);
        one.renew(first, SESSION, VALID);
        execute("UPDATE distributed_permit_member SET renewals = 0 WHERE id = ?", first);

        assertThat(one.renew(first, SESSION, VALID).epoch()).isGreaterThan(epoch);
        long next = read(one).epoch().number();
        assertThat(one.renew(first, SESSION, VALID).epoch()).isEqualTo(next);
    }

    /** A member that has just started takes an empty database for a new one. */
    @ParameterizedTest
    @MethodSource("databases")
    void memberThatRemembersMoreThanANewDatabaseBeginsAGrace(Supplier<Database> chosen) {
        use(chosen);
        long epoch = one.begin(first, SESSION);
        Map.of("key", "name LIKE", "member", "prefix LIKE", "epoch", "prefix LIKE")
                .forEach((table, condition) -> execute(
                        "DELETE FROM distributed_permit_" + table + " WHERE " + condition + " ?",
                        settings.prefix() + "%"));
        long taken = two.begin(second, SESSION);
        assertThat(read(two).epoch().graceEnd(0)).isEmpty();

        long next = one.renew(first, SESSION, VALID).epoch();

        assertThat(next).isGreaterThan(taken).isGreaterThan(epoch);
        assertThat(read(one).epoch().graceEnd(0)).isPresent();
        assertThat(two.renew(second, SESSION, VALID).epoch()).isEqualTo(next);
    }

    /** By its number the former primary shows that it is one; a clock that is behind must not give a lower one. */
    @ParameterizedTest
    @MethodSource("databases")
    void memberEntersNoEpochThatANewPrimaryWithAnEarlierClockHasBegun(Supplier<Database> chosen) {
        use(chosen);
        long epoch = one.begin(first, SESSION);
        execute(
                "UPDATE distributed_permit_epoch SET epoch = ?, lease = ?, grace_ends = ? WHERE prefix = ?",
                epoch - 1,
                SESSION.toSeconds() * MICROS,
                epoch + 60 * MICROS,
                settings.prefix());

        assertThat(one.renew(first, SESSION, VALID).epoch()).isGreaterThan(epoch);
        assertThat(read(one).epoch().graceEnd(0)).isPresent();
    }

    /** The connection that renews the session has gone on to another one, which began the next epoch. */
    @ParameterizedTest
    @MethodSource("databases")
    void formerPrimaryIsNeitherReadNorChanged(Supplier<Database> chosen) {
        use(chosen);
        LiveMembers live = new LiveMembers();
        one = client(live);
        long epoch = one.begin(first, SESSION);
        JdbcSnapshot before = read(one);
        live.enter(epoch + 1);

        assertThat(claimOne(one, first, before)).isInstanceOf(Commit.Conflict.class);
        assertThat(read(two).table().used()).isZero();
        assertThatThrownBy(() -> read(one))
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isFalse())
                .hasMessageContaining("has moved to another server");
    }

    /** The row of the first session was lost, its end was seen, and it is back with what it has reclaimed. */
    @ParameterizedTest
    @MethodSource("databases")
    void sessionThatReturnsDuringAReadKeepsItsPermits(Supplier<Database> chosen) throws SQLException {
        use(chosen);
        one.begin(first, SESSION);
        two.begin(second, SESSION);
        assertThat(claimOne(one, first, read(one))).isInstanceOf(Commit.Done.class);
        assertThat(claimOne(two, second, read(two))).isInstanceOf(Commit.Done.class);
        LiveMembers live = new LiveMembers();
        live.add(Set.of(first));
        JdbcLink link = new JdbcLink(database.source(), settings, Optional.empty());
        Connection intercepted = Intercepted.of(link.connection(), sql -> {
            if (sql.startsWith("SELECT id")) {
                live.replace(Set.of(first), Set.of());
            }
        });

        Map<String, JdbcSnapshot> read =
                new KeyRows(settings.prefix(), live).read(intercepted, link.statements(), List.of(key));

        assertThat(Objects.requireNonNull(read.get(key)).table().used()).isEqualTo(2);
        link.close();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void versionsGoOnRising(Supplier<Database> chosen) {
        use(chosen);
        one.begin(first, SESSION);
        assertThat(claimOne(one, first, read(one))).isInstanceOf(Commit.Done.class);
        long version = read(one).version();
        execute("UPDATE distributed_permit_epoch SET server = 'other' WHERE prefix = ?", settings.prefix());
        one.renew(first, SESSION, VALID);

        assertThat(read(one).version()).isGreaterThan(version + 1);
    }
}
