package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.testsupport.Once;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A database of its own in the one PostgreSQL server of this JVM, which ends with it. */
public final class TestDatabase {

    private static final Once<EmbeddedPostgres> SERVER =
            new Once<>(() -> TestPostgres.builder().start());
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final String name = "test_" + NUMBER.incrementAndGet();

    /** Creates it. */
    public TestDatabase() {
        try (Connection connection = SERVER.get().getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What an application needs that has its permits there. */
    public String[] settings() {
        return settings(SERVER.get(), name);
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
        return SERVER.get().getDatabase("postgres", name);
    }
}
