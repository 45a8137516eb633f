package io.github.distributedpermit.benchmark.servers;

import io.github.distributedpermit.backend.jdbc.JdbcPermitBackend;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/**
 * A real PostgreSQL that keeps what it confirms, with the tables of permits and those of the peers, and with
 * {@code pg_stat_statements}. Confined to one thread.
 */
public final class PostgresServer implements AutoCloseable {

    /** Half of each page free, as in the tables of permits, so that an update stays in its page. */
    private static final List<String> PEERS = List.of(
            "CREATE TABLE slot (name varchar(200), number int, owner varchar(80) NOT NULL, until timestamptz NOT NULL,"
                    + " PRIMARY KEY (name, number)) WITH (fillfactor = 50)",
            "CREATE TABLE shedlock (name varchar(200) PRIMARY KEY, lock_until timestamptz NOT NULL,"
                    + " locked_at timestamptz NOT NULL, locked_by varchar(255) NOT NULL) WITH (fillfactor = 50)",
            "CREATE EXTENSION pg_stat_statements");

    private final EmbeddedPostgres server;
    private final Connection connection;

    private PostgresServer(EmbeddedPostgres server) throws SQLException {
        this.server = server;
        this.connection = DriverManager.getConnection(url());
    }

    /** Starts it on a free port. */
    public static PostgresServer start() throws IOException, SQLException {
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(1))
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("shared_preload_libraries", "pg_stat_statements")
                .start();
        PostgresServer started = new PostgresServer(server);
        try (Statement statement = started.connection.createStatement()) {
            statement.execute(schema());
            for (String peer : PEERS) {
                statement.execute(peer);
            }
        }
        return started;
    }

    private static String schema() throws IOException {
        try (InputStream in = JdbcPermitBackend.class.getResourceAsStream("schema-postgresql.sql")) {
            if (in == null) {
                throw new IOException("distributed-permit-jdbc has no schema-postgresql.sql");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Where it listens, with the user. */
    public String url() {
        return server.getJdbcUrl("postgres", "postgres").replace("localhost", "127.0.0.1");
    }

    /** Its version. */
    public String version() throws SQLException {
        return "PostgreSQL " + text("SHOW server_version");
    }

    /** A query of one number. */
    public long number(String query) throws SQLException {
        return Long.parseLong(text(query));
    }

    private String text(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    /** Executions of the statements whose text matches the pattern of LIKE, and how long they took on the server. */
    public ScriptCalls statements(String like) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(total_exec_time), 0)"
                                + " FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_%' AND query LIKE '" + like
                                + "'")) {
            row.next();
            return new ScriptCalls(row.getLong(1), Math.round(1000 * row.getDouble(2)));
        }
    }

    @Override
    public void close() throws Exception {
        connection.close();
        server.close();
    }
}
