package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.stream.Stream;

/** Copies the files of a PostgreSQL server that runs, as {@code pg_basebackup} does, which the embedded one lacks. Stateless. */
final class BaseBackup {

    /** What belongs to the process of the server, and its log, which a standby receives from the server. */
    private static final Set<Path> LEFT_OUT =
            Set.of(Path.of("postmaster.pid"), Path.of("postmaster.opts"), Path.of("epg-lock"), Path.of("pg_wal"));

    private BaseBackup() {}

    /**
     * Makes a folder that is a standby of the server once it is started.
     *
     * @param server a connection to it
     * @param from its files
     * @param port its port
     */
    static void create(Connection server, Path from, int port, Path to) throws SQLException, IOException {
        try (Statement statement = server.createStatement()) {
            statement.execute("SELECT pg_start_backup('harness', true, false)");
            try (Stream<Path> files = Files.walk(from)) {
                files.map(from::relativize)
                        .filter(file -> !LEFT_OUT.contains(file.getName(0)))
                        .forEach(file -> copy(from.resolve(file), to.resolve(file)));
            }
            try (ResultSet row = statement.executeQuery("SELECT labelfile FROM pg_stop_backup(false, false)")) {
                row.next();
                Files.writeString(to.resolve("backup_label"), row.getString(1));
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        Files.createDirectories(to.resolve("pg_wal"));
        Files.createFile(to.resolve("standby.signal"));
        Files.writeString(
                to.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=" + port + " user=postgres'\n");
    }

    private static void copy(Path from, Path to) {
        try {
            if (Files.isDirectory(from)) {
                Files.createDirectories(to);
            } else {
                Files.copy(from, to);
            }
        } catch (NoSuchFileException e) {
            // deleted by the server meanwhile; if it is needed, the log has it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
