package io.github.distributedpermit.backend.jdbc;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** A PostgreSQL server that a test starts, kills, copies and promotes. Its commits reach the disk when they are synchronous. */
final class PostgreSqlServer implements AutoCloseable {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final Path programs;
    private final Path data;
    private final Map<String, String> environment;
    private final int port = FreePorts.some(1).get(0);
    private @Nullable Process process;

    private PostgreSqlServer(Path programs, Path data, Map<String, String> environment) {
        this.programs = programs;
        this.data = data;
        this.environment = environment;
    }

    /** A new one, which is started, of the same version as the server of the other tests. */
    static PostgreSqlServer create() {
        return create(Map.of());
    }

    static PostgreSqlServer create(Map<String, String> environment) {
        return create(PostgreSql.programs(), environment);
    }

    static PostgreSqlServer create(Path programs, Map<String, String> environment) {
        try {
            Path data =
                    Files.createTempDirectory("distributed-permit-postgresql").resolve("data");
            PostgreSqlServer server = new PostgreSqlServer(programs, data, environment);
            Process made =
                    server.run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N", "-D", data.toString());
            if (!made.waitFor(SOON.toSeconds(), TimeUnit.SECONDS) || made.exitValue() != 0) {
                throw new IllegalStateException("initdb failed; see " + server.log());
            }
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Path log() {
        return data.resolveSibling("server.log");
    }

    private Process run(String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("unshare", "-U")); // it refuses to run as root
        }
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
        builder.environment().putAll(environment);
        return builder.start();
    }

    void start() {
        try {
            // Confirmed commits that are not synchronous stay in memory for ten seconds, so that a killed server loses
            // them.
            Process started = run(
                    "postgres",
                    "-D",
                    data.toString(),
                    "-p",
                    Integer.toString(port),
                    "-k",
                    "",
                    "-c",
                    "listen_addresses=127.0.0.1",
                    "-c",
                    "max_connections=300",
                    "-c",
                    "wal_writer_delay=10s",
                    "-c",
                    "wal_writer_flush_after=0",
                    "-c",
                    "hot_standby=on",
                    "-c",
                    "shared_buffers=16MB");
            process = started;
            Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
            await().atMost(SOON).until(this::isReady);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isReady() {
        if (!started().isAlive()) {
            throw new IllegalStateException("PostgreSQL ended with " + started().exitValue() + "; see " + log());
        }
        try (Connection c = source().getConnection()) {
            return c.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    private Process started() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("Not started");
        }
        return running;
    }

    int port() {
        return port;
    }

    PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL("jdbc:postgresql://127.0.0.1:" + port + "/postgres");
        source.setUser("postgres");
        return source;
    }

    /** The first column of the only row. */
    String query(String sql) {
        return query(source(), sql);
    }

    static String query(javax.sql.DataSource source, String sql) {
        try (Connection c = source.getConnection();
                Statement s = c.createStatement();
                ResultSet row = s.executeQuery(sql)) {
            row.next();
            return String.valueOf(row.getString(1));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void execute(String sql) {
        try (Connection c = source().getConnection();
                Statement s = c.createStatement()) {
            s.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** All of its processes end at once, and what was not on the disk is lost. */
    void kill() {
        List<ProcessHandle> all = new ArrayList<>(started().descendants().toList());
        all.add(started().toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        await().atMost(SOON).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
    }

    /** Ends its transactions and keeps everything. */
    void stop() {
        signal("INT", started().pid());
        await().atMost(SOON).until(() -> !started().isAlive());
    }

    /** Ends all of its processes and writes nothing, as {@code pg_ctl stop -m immediate} does. */
    void stopImmediately() {
        signal("QUIT", started().pid());
        await().atMost(SOON).until(() -> !started().isAlive());
    }

    /** Another process of the server, by its id. */
    void signal(String name, long pid) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** All of its processes. */
    void signal(String name) {
        started().descendants().forEach(handle -> signal(name, handle.pid()));
        signal(name, started().pid());
    }

    /** Copies its files, while it is stopped, to a place beside them. */
    Path copy(String name) {
        Path target = data.resolveSibling(name);
        copy(data, target);
        return target;
    }

    /** Puts a copy back, while it is stopped. */
    void restore(Path copy) {
        delete(data);
        copy(copy, data);
    }

    /** A standby of this server from a copy of its files, which is started. It applies nothing while it is held back. */
    PostgreSqlServer standby(Path copy) {
        try {
            PostgreSqlServer standby = new PostgreSqlServer(programs, copy, environment);
            Files.createFile(copy.resolve("standby.signal"));
            Files.writeString(
                    copy.resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=127.0.0.1 port=" + port + " user=postgres'\n");
            standby.start();
            return standby;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copy(Path from, Path to) {
        try {
            Files.walkFileTree(from, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
                        throws IOException {
                    Path made = Files.createDirectories(to.resolve(from.relativize(folder)));
                    Files.setPosixFilePermissions(made, Files.getPosixFilePermissions(folder));
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.copy(file, to.resolve(from.relativize(file)));
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path left, @Nullable IOException e) throws IOException {
                    Files.delete(left);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        if (started().isAlive()) {
            kill();
        }
        delete(data);
    }
}
