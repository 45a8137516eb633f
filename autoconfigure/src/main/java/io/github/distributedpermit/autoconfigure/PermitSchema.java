package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.jdbc.JdbcSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Creates the tables of permits over the first connection to the database, which may have been down at the start. At the start
 * that is after Flyway and Liquibase, which may want an empty schema. Thread-safe.
 */
final class PermitSchema {

    private static final Log log = LogFactory.getLog(PermitSchema.class);
    private static final String SCRIPT = "io/github/distributedpermit/backend/jdbc/schema-%s.sql";

    /** More than there are statements, each of which may meet another instance once. */
    private static final int ATTEMPTS = 10;

    private final JdbcPermitProperties properties;
    private final Duration commandTimeout;
    private boolean done;

    /** @param commandTimeout how long the database may take for a statement before its connection is given up */
    PermitSchema(JdbcPermitProperties properties, Duration commandTimeout) {
        this.properties = properties;
        this.commandTimeout = commandTimeout;
        this.done = properties.initializeSchema() == DatabaseInitializationMode.NEVER;
    }

    /** Creates what is missing, if it is to be created and this was not done yet. */
    synchronized void ensure(Connection connection) throws SQLException {
        if (!done) {
            try {
                connection.setNetworkTimeout(Runnable::run, Math.toIntExact(commandTimeout.toMillis()));
            } catch (SQLFeatureNotSupportedException e) {
                log.debug("This driver has no network time-out", e);
            }
            if (properties.initializeSchema() == DatabaseInitializationMode.ALWAYS
                    || EmbeddedDatabaseConnection.isEmbedded(new SingleConnectionDataSource(connection, true))) {
                create(connection);
            }
            done = true;
        }
    }

    /**
     * Of instances that create a table at the same moment, all but one fail: {@code IF NOT EXISTS} does not see what is not
     * committed yet. At the next attempt that table is there.
     */
    private void create(Connection connection) throws SQLException {
        for (int attempt = 1; !isCreated(connection); attempt++) {
            try {
                execute(connection, script(connection));
                return;
            } catch (SQLException e) {
                if (attempt == ATTEMPTS || isLocked(e) || !connection.isValid(1)) {
                    throw e;
                }
            }
        }
    }

    /**
     * Whether the view, which is created last, and the table that it does not read are there. To replace the view, the database
     * would wait for each transaction that has read it.
     */
    private boolean isCreated(Connection connection) throws SQLException {
        try {
            execute(
                    connection,
                    "SELECT h.alive_until, e.server FROM %1$sholder h, %1$sepoch e WHERE 1 = 0"
                            .formatted(properties.tablePrefix()));
            return true;
        } catch (SQLException e) {
            if (isLocked(e)) {
                throw e;
            }
            return false; // whatever else is wrong, the creation shows
        }
    }

    private static boolean isLocked(SQLException e) {
        return "55P03".equals(e.getSQLState());
    }

    /**
     * PostgreSQL does not notice that the client has given its connection up, and would wait for a lock for ever. So it ends the
     * wait before that. The setting ends with the transaction, since others may use the connection later.
     */
    private void execute(Connection connection, String script) throws SQLException {
        boolean postgres = connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
        String limit = postgres ? "SET LOCAL lock_timeout = %d;\n".formatted(commandTimeout.toMillis() / 2) : "";
        ResourceDatabasePopulator populator = new ResourceDatabasePopulator(
                new ByteArrayResource((limit + script).getBytes(StandardCharsets.UTF_8), "the tables of permits"));
        populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
        connection.setAutoCommit(!postgres);
        try {
            populator.populate(connection);
            connection.setAutoCommit(true); // commits
        } catch (ScriptException e) {
            if (postgres && !connection.isClosed()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
            throw e.getCause() instanceof SQLException cause ? cause : new SQLException(e);
        }
    }

    /** The statements that create the tables in this database. */
    String script(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        ClassPathResource script = new ClassPathResource(
                SCRIPT.formatted(DatabaseDriver.fromProductName(product).getId()));
        if (!script.exists()) {
            return ""; // the backend refuses this database with a message
        }
        try {
            return script.getContentAsString(StandardCharsets.UTF_8)
                    .replace(JdbcSettings.DEFAULT_TABLE_PREFIX, properties.tablePrefix());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
