package io.github.distributedpermit.harness.fleet;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One PostgreSQL server, which is killed and stopped with all of its processes. Used by the master's thread. */
public final class PostgresStore implements Store {

    /** What a server that was killed needs to write again what is only in its log. */
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Path data;
    private final int port;
    private final @Nullable Proxy network;
    private EmbeddedPostgres server;

    private PostgresStore(Path data, EmbeddedPostgres server, @Nullable Proxy network) {
        this.data = data;
        this.server = server;
        this.port = server.getPort();
        this.network = network;
    }

    /** Starts it. */
    public static PostgresStore start() throws IOException {
        Path data = Files.createTempDirectory("harness-postgresql-");
        return new PostgresStore(data, started(data, 0), null);
    }

    /** Starts it behind a network of ours. */
    public static PostgresStore startBehindProxy() throws IOException {
        Path data = Files.createTempDirectory("harness-postgresql-");
        EmbeddedPostgres server = started(data, 0);
        return new PostgresStore(data, server, Proxy.to(server.getPort()));
    }

    /**
     * Starts a standby of this server.
     *
     * @param at its port, 0 for a free one
     */
    PostgresStore standby(int at) throws Exception {
        Path copy = Files.createTempDirectory("harness-postgresql-");
        try (Connection own = connect()) {
            BaseBackup.create(own, data, port, copy);
        }
        PostgresStore standby = new PostgresStore(copy, started(copy, at), null);
        String present = ask("SELECT pg_current_wal_lsn()").get(0);
        while (!standby.ask("SELECT pg_last_wal_replay_lsn() >= '" + present + "'")
                .equals(List.of("t"))) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return standby;
    }

    /** A server that keeps what it confirms, as one in production does. */
    private static EmbeddedPostgres started(Path data, int port) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(1))
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on");
        return (port == 0 ? builder : builder.setPort(port)).start();
    }

    /** The network between members and server. */
    public Proxy network() {
        return Objects.requireNonNull(network, "Members connect directly");
    }

    /** {@code kill -9} of the server and of each process that serves a connection. */
    public void kill() throws IOException {
        List<ProcessHandle> processes = processes();
        processes.forEach(ProcessHandle::destroyForcibly);
        processes.forEach(process -> process.onExit().join());
    }

    /** {@code SIGTERM}: the server accepts no further connections, and waits for the end of those that it has. */
    public void terminate() throws IOException {
        processes().get(0).destroy();
    }

    /** {@code kill -9} of a process that serves a connection; returns when the server has ended all others. */
    public void killBackend() throws SQLException, InterruptedException {
        try (Connection own = connect()) {
            long pid = Long.parseLong(
                    ask("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'PostgreSQL JDBC%' ORDER BY random()")
                            .get(0));
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
            while (own.isValid(1)) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
        }
    }

    /** Returns when the server answers. */
    public void awaitAnswer() throws InterruptedException {
        while (true) {
            try {
                ask("SELECT 1");
                return;
            } catch (SQLException e) {
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** The same server again, with what it had. One that still runs ends its connections first. */
    public void restart() throws IOException, InterruptedException {
        server.close();
        long deadline = System.nanoTime() + START_NANOS;
        while (true) {
            try {
                server = started(data, port);
                return;
            } catch (IOException | RuntimeException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(50); // until what the killed one had in memory is free
            }
        }
    }

    /** It stands still, with all connections open. */
    public void freeze() throws IOException {
        for (ProcessHandle process : processes()) {
            if (process.isAlive()) {
                Signals.stop(process.pid());
            }
        }
    }

    /** It goes on. */
    public void thaw() throws IOException {
        for (ProcessHandle process : processes()) {
            Signals.resume(process.pid());
        }
    }

    /** The server first, which starts the others. */
    private List<ProcessHandle> processes() throws IOException {
        long pid = Long.parseLong(
                Files.readAllLines(data.resolve("postmaster.pid")).get(0));
        ProcessHandle first = ProcessHandle.of(pid).orElseThrow();
        return Stream.concat(Stream.of(first), first.children()).toList();
    }

    /** A connection of our own. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url(port), "postgres", "");
    }

    int port() {
        return port;
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    /** What a query finds in its first column. */
    public List<String> ask(String query) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    @Override
    public List<String> settings() {
        return settings(url(network == null ? port : network.port()));
    }

    static List<String> settings(String url) {
        return List.of(
                "--distributed-permit.backend=jdbc",
                "--distributed-permit.jdbc.initialize-schema=always",
                "--spring.cloud.consul.enabled=false",
                "--spring.datasource.url=" + url,
                "--spring.datasource.username=postgres");
    }

    @Override
    public String version() {
        try {
            return "PostgreSQL " + ask("SHOW server_version").get(0);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** By design, the row of a key that is not used any more stays for an hour, and that of a session until another member comes. */
    @Override
    public List<String> residue() {
        try {
            return ask("SELECT name || ' ' || document FROM distributed_permit_key WHERE document <> ''"
                    + " UNION ALL SELECT id FROM distributed_permit_member"
                    + " WHERE expires > EXTRACT(EPOCH FROM clock_timestamp()) * 1000000");
        } catch (SQLException e) {
            return List.of("unknown: " + e);
        }
    }

    @Override
    public void close() {
        if (network != null) {
            network.close();
        }
        try {
            server.close();
            try (Stream<Path> files = Files.walk(data)) {
                files.sorted((a, b) -> b.compareTo(a)).forEach(delete());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Consumer<Path> delete() {
        return file -> {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }
}
