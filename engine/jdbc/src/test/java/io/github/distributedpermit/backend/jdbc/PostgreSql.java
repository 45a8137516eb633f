package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.ports.FreePorts;
import io.github.distributedpermit.testsupport.Once;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** One PostgreSQL server for all tests of a JVM, which ends with it. */
final class PostgreSql {

    private static final Once<PostgreSql> SERVER = new Once<>(PostgreSql::new);

    private final EmbeddedPostgres running;
    private final Path programs;

    private PostgreSql() throws IOException {
        running = EmbeddedPostgres.builder()
                .setPort(FreePorts.some(1).get(0))
                .setPGStartupWait(Duration.ofMinutes(1))
                .setServerConfig("max_connections", "300")
                .setServerConfig("fsync", "off")
                .start();
        // At once: some tests end all connections of the server.
        programs =
                Path.of(PostgreSqlServer.query(source(running), "SELECT setting FROM pg_config WHERE name = 'BINDIR'"));
    }

    static Database database() {
        return new Database("postgresql", source());
    }

    /** Without the tables. */
    static PGSimpleDataSource source() {
        return source(SERVER.get().running);
    }

    private static PGSimpleDataSource source(EmbeddedPostgres running) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(running.getJdbcUrl("postgres", "postgres"));
        return source;
    }

    /** Where its programs are. */
    static Path programs() {
        return SERVER.get().programs;
    }
}
