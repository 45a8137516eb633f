package io.github.distributedpermit.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One connection, opened at its first use and replaced after a failure. It never takes part in a transaction of the
 * application. Confined to one thread.
 */
final class JdbcLink {

    private static final System.Logger LOG = System.getLogger(JdbcLink.class.getName());

    private final DataSource source;
    private final JdbcSettings settings;
    private @Nullable Connection connection;
    private @Nullable Statements statements;

    JdbcLink(DataSource source, JdbcSettings settings) {
        this.source = source;
        this.settings = settings;
    }

    /** Opens a connection if there is none. */
    Connection connection() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = source.getConnection();
            try {
                prepare(open);
            } catch (SQLException | RuntimeException e) {
                abort(open);
                throw e;
            }
            connection = open;
        }
        return open;
    }

    /** Those of the database behind the last connection. */
    Statements statements() throws SQLException {
        connection();
        Statements known = statements;
        if (known == null) {
            throw new IllegalStateException("Set when the connection was opened");
        }
        return known;
    }

    private void prepare(Connection open) throws SQLException {
        Statements known =
                new Statements(Dialect.of(open.getMetaData().getDatabaseProductName()), settings.tablePrefix());
        open.setAutoCommit(true);
        open.setReadOnly(false);
        open.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try {
            // Unlike a query time-out, it ends the wait for a server that is frozen.
            open.setNetworkTimeout(
                    Runnable::run, Math.toIntExact(settings.commandTimeout().toMillis()));
        } catch (SQLFeatureNotSupportedException e) {
            LOG.log(System.Logger.Level.DEBUG, "This driver has no network time-out", e);
        }
        // Shorter than the network time-out, so that the server itself ends a statement that waits for a lock.
        Duration statement = settings.commandTimeout().multipliedBy(3).dividedBy(4);
        try (Statement s = open.createStatement()) {
            for (String sql : known.dialect().session(statement)) {
                s.execute(sql);
            }
        }
        statements = known;
    }

    /**
     * After a failure: keeps the connection only if it is certain to be usable.
     *
     * @param inTransaction whether a transaction was begun, which is rolled back
     * @return whether nothing was written
     */
    boolean failed(SQLException e, boolean inTransaction) {
        Connection open = connection;
        if (open == null) {
            return true; // there was no connection to write by
        }
        if (!SqlFailures.wroteNothing(e)) {
            discard();
            return false;
        }
        if (inTransaction) {
            try {
                open.rollback();
                open.setAutoCommit(true);
            } catch (SQLException again) {
                e.addSuppressed(again);
                // The server ends the transaction with its connection; it was not committed.
                discard();
            }
        }
        return true;
    }

    /** Gives the connection up; the next use opens another one. */
    void discard() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            abort(open);
        }
    }

    /** Also takes it out of a pool, to which it must not return with the settings of this library. */
    private static void abort(Connection open) {
        try {
            open.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "A connection could not be aborted", e);
        }
        try {
            open.close();
        } catch (SQLException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "A connection could not be closed", e);
        }
    }
}
