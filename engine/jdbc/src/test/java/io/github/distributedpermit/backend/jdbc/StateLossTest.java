package io.github.distributedpermit.backend.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.ports.FreePorts;
import io.github.distributedpermit.spi.PermitStoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Databases that lose what they have confirmed, or seem to. In each test one process holds two permits of three that the
 * database does not have any more, and another process, which has just started, asks for three.
 */
@Execution(ExecutionMode.CONCURRENT) // each has a server of its own, and mostly waits for the end of a grace
class StateLossTest {

    private static final Duration SOON = Duration.ofSeconds(240);
    /** Longer than a slow machine needs to start or promote a server, since permits are lost after it. */
    private static final Duration SESSION = Duration.ofSeconds(25);

    private static final String EPOCH = "SELECT epoch FROM distributed_permit_epoch";
    private static final String RENEWALS = "SELECT max(renewals) FROM distributed_permit_member";

    private final JdbcSettings settings =
            JdbcSettings.of("loss", JdbcSettings.DEFAULT_TABLE_PREFIX, SESSION, Duration.ofSeconds(1));
    private final PostgreSqlServer server = created();
    /** Where the processes connect to; a test leads them to another server by changing its port. */
    private final PGSimpleDataSource source = server.source();

    private final List<AutoCloseable> opened = new ArrayList<>(List.of(server));

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private static PostgreSqlServer created() {
        PostgreSqlServer server = PostgreSqlServer.create();
        assertThat(new Database("postgresql", server.source()).name()).isNotEmpty(); // has the tables
        return server;
    }

    private TestProcess process() {
        return process(source);
    }

    private TestProcess process(DataSource database) {
        TestProcess process = new TestProcess(database, settings);
        opened.add(process);
        return process;
    }

    /** Joins, and has a row that no crash removes. */
    private NamedPermits joined() throws InterruptedException {
        NamedPermits permits = process().permits("export", 3);
        permits.acquire("export").release();
        awaitEmpty(); // returned
        server.execute("CHECKPOINT");
        return permits;
    }

    private void awaitEmpty() {
        await().atMost(SOON)
                .until(() -> server.query("SELECT document FROM distributed_permit_key")
                        .isEmpty());
    }

    /**
     * Then claims do not reach the disk: nothing but the WAL writer and synchronous commits would bring them there, and renewals
     * of sessions, which are such commits, fail.
     */
    private void keepClaimsInMemory() {
        server.signal(
                "STOP",
                Long.parseLong(server.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")));
        server.execute(
                "ALTER TABLE distributed_permit_member ADD CONSTRAINT no_renewals CHECK (renewals = 0) NOT VALID");
    }

    private void killAndStart() {
        server.kill();
        server.start();
        server.execute("ALTER TABLE distributed_permit_member DROP CONSTRAINT no_renewals");
    }

    private static List<Permit> two(NamedPermits permits) throws InterruptedException {
        return List.of(permits.acquire("export"), permits.acquire("export"));
    }

    /**
     * Three calls of a new process get one permit at first, when the grace has ended, since the others are held; those when they
     * are returned.
     */
    private void newProcessGetsTheThirdPermitOnly(DataSource database, List<Permit> held) {
        NamedPermits late = process(database).permits("export", 3);
        List<CompletableFuture<Permit>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(late.acquireAsync(PermitRequest.of("export")));
        }

        await().atMost(SOON).until(() -> calls.stream().anyMatch(CompletableFuture::isDone));

        assertThat(held).allMatch(Permit::isHeld);
        assertThat(calls.stream().filter(CompletableFuture::isDone)).hasSize(1);
        held.forEach(Permit::release);
        await().atMost(SOON).until(() -> calls.stream().allMatch(CompletableFuture::isDone));
        calls.forEach(call -> call.join().release());
    }

    @Test
    void killedServerThatHasLostCommits() throws InterruptedException {
        NamedPermits permits = joined();
        String before = server.query(EPOCH);
        keepClaimsInMemory();
        List<Permit> held = two(permits);

        killAndStart();

        assertThat(server.query("SELECT document FROM distributed_permit_key")).isEmpty(); // lost
        newProcessGetsTheThirdPermitOnly(source, held);
        assertThat(server.query(EPOCH)).isNotEqualTo(before);
    }

    /** Without the row of its session nothing says that the member was there, and for how long its permits are valid. */
    @Test
    void killedServerThatHasLostAllOfAMemberThatHadJustBegun() throws InterruptedException {
        PGSimpleDataSource gone = server.source();
        keepClaimsInMemory();
        List<Permit> held = two(process(gone).permits("export", 3));
        gone.setPortNumbers(new int[] {FreePorts.some(1).get(0)}); // the process finds it never again, also not at once
        killAndStart();

        assertThat(server.query("SELECT count(*) FROM distributed_permit_key")).isEqualTo("0"); // lost
        NamedPermits late = process().permits("export", 3);
        List<CompletableFuture<Permit>> calls = new ArrayList<>();
        List<Long> inUse = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Permit> call = late.acquireAsync(PermitRequest.of("export"));
            calls.add(call);
            call.thenRun(() -> inUse.add(held.stream().filter(Permit::isHeld).count()
                    + calls.stream().filter(CompletableFuture::isDone).count()));
        }
        await().atMost(SOON).until(() -> inUse.size() == 3);

        assertThat(inUse).allMatch(permits -> permits <= 3);
        calls.forEach(call -> call.join().release());
    }

    @Test
    void tableOfEpochsThatSurvivesACrashIsRefused() {
        server.execute("ALTER TABLE distributed_permit_epoch SET LOGGED");

        assertThatThrownBy(() -> new JdbcPermitBackend(source, "", settings).checkTables())
                .isInstanceOfSatisfying(
                        PermitStoreException.class,
                        e -> assertThat(e.isPermanent()).isTrue())
                .hasMessageContaining("ALTER TABLE distributed_permit_epoch SET UNLOGGED");
    }

    /** The server stays the same one by its start time and name, and rolls its log forward. */
    @Test
    void killedConnectionOfTheServer() throws InterruptedException {
        source.setApplicationName("holder");
        NamedPermits permits = joined();
        String before = server.query(EPOCH);
        List<Permit> held = two(permits);

        server.signal(
                "KILL",
                Long.parseLong(
                        server.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'holder' LIMIT 1")));
        await().atMost(SOON) // emptied, or the member has opened the next epoch already
                .ignoreExceptions()
                .until(() -> !server.query("SELECT max(epoch) FROM distributed_permit_epoch")
                        .equals(before));

        newProcessGetsTheThirdPermitOnly(source, held);
        assertThat(server.query(EPOCH)).isNotEqualTo(before);
    }

    @Test
    void stoppedServerThatHasLostNothing() throws InterruptedException {
        NamedPermits permits = joined();
        String before = server.query(EPOCH);
        List<Permit> held = two(permits);

        server.stop();
        server.start();

        newProcessGetsTheThirdPermitOnly(source, held);
        assertThat(server.query(EPOCH)).isEqualTo(before);
    }

    @Test
    void promotedReplicaThatHasNotAppliedAll() throws InterruptedException {
        NamedPermits permits = joined();
        PostgreSqlServer standby = standby();
        permits.acquire("export").release(); // over the connection after the restart
        awaitEmpty();
        standby.execute("SELECT pg_wal_replay_pause()");
        List<Permit> held = two(permits);

        server.kill();
        source.setPortNumbers(new int[] {standby.port()});
        standby.execute("SELECT pg_wal_replay_resume()");
        standby.execute("SELECT pg_promote()");

        newProcessGetsTheThirdPermitOnly(source, held);
    }

    private PostgreSqlServer standby() {
        server.stop();
        Path copy = server.copy("standby");
        server.start();
        PostgreSqlServer standby = server.standby(copy);
        opened.add(standby);
        await().atMost(SOON)
                .until(() -> standby.query("SELECT pg_is_in_recovery()").equals("t"));
        return standby;
    }

    /** Only the connection that renews the session has broken. The one for claims leads to a server that nothing has stopped. */
    @Test
    void formerPrimaryThatStillAnswers() throws InterruptedException {
        NamedPermits permits = joined();
        PostgreSqlServer standby = standby();
        List<Permit> held = two(permits);
        String session = "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                + " AND query LIKE '%distributed_permit_member%' AND query NOT LIKE '%distributed_permit_key%'";
        await().atMost(SOON)
                .until(() -> server.query("SELECT count(*) " + session).equals("1"));

        standby.execute("SELECT pg_promote()");
        source.setPortNumbers(new int[] {standby.port()});
        await().atMost(SOON)
                .until(() -> server.query("SELECT count(pg_terminate_backend(pid)) " + session)
                        .equals("1"));
        String renewals =
                "SELECT max(renewals) FROM distributed_permit_member JOIN distributed_permit_epoch USING (epoch)";
        await().atMost(SOON).until(() -> !standby.query(renewals).equals("null"));
        String moved = standby.query(renewals);
        await().atMost(SOON).until(() -> !standby.query(renewals).equals(moved));
        String revision = "SELECT revision FROM distributed_permit_key";
        String left = server.query(revision);

        newProcessGetsTheThirdPermitOnly(source, held);
        assertThat(server.query(revision)).isEqualTo(left);
    }

    /** Drops and creates the tables, and inserts the rows that they had, as {@code pg_restore --clean} does. */
    @Test
    void dumpThatIsRestored() throws Exception {
        NamedPermits permits = joined();
        Map<String, List<Object[]>> dump = dump();
        List<Permit> held = two(permits);

        restore(dump);

        newProcessGetsTheThirdPermitOnly(source, held);
    }

    /** The row of the epoch is the old one, but the row of the session is too old as well. */
    @Test
    void copyOfTheFilesThatIsPutBack() throws InterruptedException {
        NamedPermits permits = joined();
        server.stop();
        Path copy = server.copy("copy");
        server.start();
        String before = server.query(EPOCH);
        long old = Long.parseLong(server.query(RENEWALS));
        List<Permit> held = two(permits);
        await().atMost(SOON).until(() -> Long.parseLong(server.query(RENEWALS)) > old + 1);

        server.stop();
        server.restore(copy);
        server.start();

        await().atMost(SOON).until(() -> !server.query(EPOCH).equals(before));
        newProcessGetsTheThirdPermitOnly(source, held);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "distributed_permit_key, distributed_permit_member, distributed_permit_epoch",
                "distributed_permit_epoch"
            })
    void truncatedTables(String tables) throws InterruptedException {
        NamedPermits permits = joined();
        List<Permit> held = two(permits);

        server.execute("TRUNCATE " + tables);

        await().atMost(SOON)
                .until(() -> !server.query("SELECT count(*) FROM distributed_permit_epoch")
                        .equals("0"));
        newProcessGetsTheThirdPermitOnly(source, held);
    }

    /** A named exception, until the calls that hold permits have ended. */
    @Test
    void limitHoldsAgainAfterTheTableOfKeysWasTruncatedAndTheHoldersHaveEnded() throws InterruptedException {
        NamedPermits permits = joined();
        List<Permit> held = two(permits);

        server.execute("TRUNCATE distributed_permit_key");
        NamedPermits late = process().permits("export", 3);
        List<Permit> granted = List.of(late.acquire("export"), late.acquire("export"), late.acquire("export"));
        held.forEach(Permit::release);
        CompletableFuture<Permit> next = permits.acquireAsync(PermitRequest.of("export"));

        await().atMost(SOON)
                .until(() -> server.query("SELECT count(*) FROM distributed_permit_holder WHERE waits")
                        .equals("1"));
        assertThat(server.query("SELECT sum(permits) FROM distributed_permit_holder"))
                .isEqualTo("3");
        assertThat(next).isNotDone();
        granted.forEach(Permit::release);
        assertThat(next).succeedsWithin(SOON).satisfies(Permit::release);
    }

    @Test
    void replicaIsRefused() throws InterruptedException {
        joined();
        server.stop();
        Path copy = server.copy("standby");
        server.start();
        try (PostgreSqlServer standby = server.standby(copy)) {
            JdbcPermitBackend backend = new JdbcPermitBackend(standby.source(), "", settings);

            assertThatThrownBy(backend::checkTables)
                    .hasMessageContaining("pg_is_in_recovery")
                    .hasMessageContaining("replica");
        }
    }

    private static final List<String> TABLES =
            List.of("distributed_permit_key", "distributed_permit_member", "distributed_permit_epoch");

    private Map<String, List<Object[]>> dump() throws SQLException {
        Map<String, List<Object[]>> dump = new LinkedHashMap<>();
        try (Connection c = source.getConnection();
                Statement s = c.createStatement()) {
            for (String table : TABLES) {
                List<Object[]> rows = new ArrayList<>();
                try (ResultSet row = s.executeQuery("SELECT * FROM " + table)) {
                    while (row.next()) {
                        Object[] values = new Object[row.getMetaData().getColumnCount()];
                        for (int i = 0; i < values.length; i++) {
                            values[i] = row.getObject(i + 1);
                        }
                        rows.add(values);
                    }
                }
                dump.put(table, rows);
            }
        }
        return dump;
    }

    private void restore(Map<String, List<Object[]>> dump) throws SQLException {
        server.execute("DROP TABLE " + String.join(", ", TABLES) + " CASCADE");
        Database restored = new Database("postgresql", source);
        try (Connection c = restored.source().getConnection();
                Statement s = c.createStatement()) {
            c.setAutoCommit(false); // what the member has written into the empty tables is gone as well
            s.execute("LOCK TABLE " + String.join(", ", TABLES));
            for (Map.Entry<String, List<Object[]>> table : dump.entrySet()) {
                s.execute("DELETE FROM " + table.getKey());
                for (Object[] row : table.getValue()) {
                    String marks = "?" + ", ?".repeat(row.length - 1);
                    try (PreparedStatement p =
                            c.prepareStatement("INSERT INTO " + table.getKey() + " VALUES (" + marks + ")")) {
                        Sql.bind(p, row);
                        p.executeUpdate();
                    }
                }
            }
            c.commit();
        }
    }
}
