package io.github.distributedpermit.autoconfigure;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database of its own in the one PostgreSQL server of this JVM, which ends with it. */
public final class TestDatabase {

    private static @Nullable EmbeddedPostgres server;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final String name = "test_" + NUMBER.incrementAndGet();

    /** Creates it. */
    public TestDatabase() {
        try (Connection connection = server().getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A failure to start does not spoil the class: the next test tries again. */
    private static synchronized EmbeddedPostgres server() {
        EmbeddedPostgres running = server;
        if (running == null) {
            try {
                running = TestPostgres.builder().start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            server = running;
        }
        return running;
    }

    /** What an application needs that has its permits there. */
    public String[] settings() {
        return settings(server(), name);
    }

    static String[] settings(EmbeddedPostgres server, String name) {
        return new String[] {
            "distributed-permit.backend=jdbc",
            "distributed-permit.jdbc.initialize-schema=always",
            "spring.datasource.url=" + server.getJdbcUrl("postgres", name),
            "spring.datasource.username=postgres"
        };
    }

    /** Opens a new connection each time. */
    DataSource source() {
        return server().getDatabase("postgres", name);
    }
}
