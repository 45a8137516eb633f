package io.github.distributedpermit.backend.jdbc;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** One PostgreSQL server for all tests of a JVM, which ends with it. */
final class PostgreSql {

    private static final EmbeddedPostgres SERVER = start();

    private PostgreSql() {}

    private static EmbeddedPostgres start() {
        try {
            return EmbeddedPostgres.builder()
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
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(SERVER.getJdbcUrl("postgres", "postgres"));
        return source;
    }
}
