package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.ports.FreePorts;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** One PostgreSQL server for all tests of a JVM, which ends with it. */
final class PostgreSql {

    private static @Nullable EmbeddedPostgres server;
    private static @Nullable Path programs;

    private PostgreSql() {}

    /** A failure to start does not spoil the class: the next test tries again. */
    private static synchronized EmbeddedPostgres server() {
        EmbeddedPostgres running = server;
        if (running == null) {
            running = start();
            // At once: some tests end all connections of the server.
            programs = Path.of(
                    PostgreSqlServer.query(source(running), "SELECT setting FROM pg_config WHERE name = 'BINDIR'"));
            server = running;
        }
        return running;
    }

    private static EmbeddedPostgres start() {
        try {
            return EmbeddedPostgres.builder()
                    .setPort(FreePorts.some(1).get(0))
                    .setPGStartupWait(Duration.ofMinutes(1))
                    .setServerConfig("max_connections", "300")
                    .setServerConfig("fsync", "off")
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Database database() {
        return new Database("postgresql", source());
    }

    /** Without the tables. */
    static PGSimpleDataSource source() {
        return source(server());
    }

    private static PGSimpleDataSource source(EmbeddedPostgres running) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(running.getJdbcUrl("postgres", "postgres"));
        return source;
    }

    /** Where its programs are. */
    static synchronized Path programs() {
        server();
        return Objects.requireNonNull(programs);
    }
}
