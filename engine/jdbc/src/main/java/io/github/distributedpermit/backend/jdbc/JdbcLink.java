package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One connection, opened at its first use and replaced after a failure. It never takes part in a transaction of the
 * application. Confined to one thread.
 */
final class JdbcLink {

    private static final System.Logger LOG = System.getLogger(JdbcLink.class.getName());

    /** The reasons that end with a fail-over. */
    private static final Set<String> REPLICA = Set.of("pg_is_in_recovery", "read_only");

    private final DataSource source;
    private final JdbcSettings settings;
    /** Where notices for the member arrive; empty if this connection is for claims, and receives none. */
    private final Optional<String> channel;

    private @Nullable Connection connection;
    private @Nullable Statements statements;
    private @Nullable Notices notices;
    private boolean warned;

    JdbcLink(DataSource source, JdbcSettings settings, Optional<String> channel) {
        this.source = source;
        this.settings = settings;
        this.channel = channel;
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
        return Objects.requireNonNull(statements);
    }

    /** What the database sends to this member; {@code null} if the present connection receives nothing. */
    @Nullable
    Notices notices() throws SQLException {
        connection();
        return notices;
    }

    private void prepare(Connection open) throws SQLException {
        try {
            // Unlike a query time-out, it ends the wait for a server that is frozen.
            open.setNetworkTimeout(
                    Runnable::run, Math.toIntExact(settings.commandTimeout().toMillis()));
        } catch (SQLFeatureNotSupportedException e) {
            LOG.log(System.Logger.Level.DEBUG, "This driver has no network time-out", e);
        }
        Dialect dialect = Dialect.of(open.getMetaData().getDatabaseProductName());
        Statements prepared = new Statements(dialect, settings);
        refuse(open, prepared.of(dialect.refusal));
        open.setAutoCommit(true);
        open.setReadOnly(false);
        if (dialect.isShared(open)) {
            notices = null;
            warnOfProxy();
        } else {
            if (open.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
                open.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            // Shorter than the network time-out, so that the server itself ends a statement that waits for a lock.
            Duration statement = settings.commandTimeout().multipliedBy(3).dividedBy(4);
            for (String sql : dialect.session(statement, channel.isPresent())) {
                Sql.update(open, sql);
            }
            notices = channel.isPresent() ? dialect.listen(open, channel.get()) : null;
        }
        statements = prepared;
    }

    /** A replica may become the only writable server, so that it is a passing failure. */
    private static void refuse(Connection open, String sql) throws SQLException {
        String reason = Sql.query(open, sql, row -> row.next() ? row.getString(1) : "");
        String text = "Permits need one database that all instances share and may change, but this one has " + reason;
        if (REPLICA.contains(reason)) {
            throw PermitStoreException.passing(text + ", as a replica that can only be read", null);
        }
        if (!reason.isEmpty()) {
            throw PermitStoreException.permanent(text, null);
        }
    }

    /** Settings of a connection that others use as well must stay as they are. */
    private void warnOfProxy() {
        if (channel.isPresent() && !warned) {
            warned = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A proxy such as PgBouncer is, or may be, between permits and their database: instances that wait for permits read the database"
                            + " repeatedly, and a statement that waits for a lock occupies a connection of the proxy. Mark a"
                            + " DataSource that connects directly with @PermitDataSource");
        }
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
            } catch (SQLException | RuntimeException again) {
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

    /** Gives the connection back, whose last statement has succeeded; the next use opens another one. */
    void close() {
        Connection open = connection;
        if (source instanceof OwnConnections && open != null) {
            connection = null;
            close(open);
        } else {
            discard();
        }
    }

    /** Also takes it out of a pool, to which it must not return with the settings of this library. */
    private static void abort(Connection open) {
        try {
            open.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "A connection could not be aborted", e);
        }
        close(open);
    }

    private static void close(Connection open) {
        try {
            open.close();
        } catch (SQLException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "A connection could not be closed", e);
        }
    }
}
