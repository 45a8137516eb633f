package io.github.distributedpermit.sample.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EmbeddedPostgresTest extends SharedServerLaws {

    EmbeddedPostgresTest() {
        super(new PostgresKind());
    }

    @Override
    void crash(ServerDirectory directory) throws IOException {
        String pid = Files.readAllLines(PostgresLink.data(directory).resolve("postmaster.pid"))
                .get(0);
        Commands.run("kill", "-9", pid);
    }

    @Override
    void cutConnection() throws IOException {
        try (Connection connection = DriverManager.getConnection(PostgresLink.url(port), PostgresLink.USER, null);
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    + " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    @Test
    void databaseOfAnotherOwnerIsNotUsed() throws IOException {
        try (EmbeddedPostgres other = EmbeddedPostgres.builder()
                .setPort(port)
                .setPGStartupWait(Duration.ofMinutes(1))
                .start()) {
            assertThatThrownBy(this::instance)
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContaining("another PostgreSQL server");
        }
    }
}
