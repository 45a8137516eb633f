package io.github.distributedpermit.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Receives, over one connection to PostgreSQL, the names of keys in which other members have served this one. Confined to the
 * thread of the connection.
 *
 * <p>The driver of PostgreSQL may be missing, so that other classes use this one only where the database is one.
 */
final class Notices {

    private final PGConnection connection;
    /** Notices may have been lost before the connection was opened. */
    private boolean complete;

    private Notices(PGConnection connection) {
        this.connection = connection;
    }

    /**
     * Whether a proxy such as PgBouncer may be between, which may execute each transaction over another connection. It has an id of
     * its own for the connection. What belongs to a connection, such as time-outs and notices, does not work then.
     */
    static boolean isShared(Connection open) throws SQLException {
        if (!open.isWrapperFor(PGConnection.class)) {
            return true;
        }
        PGConnection driver = open.unwrap(PGConnection.class);
        boolean shared = Sql.query(
                open, "SELECT pg_backend_pid()", row -> row.next() && row.getInt(1) != driver.getBackendPID());
        if (shared) {
            driver.setPrepareThreshold(0); // a prepared statement would be missing at the next connection
        }
        return shared;
    }

    /** Begins to receive; {@code null} if a notice that the connection sends to itself does not arrive. */
    static @Nullable Notices listen(Connection open, String channel) throws SQLException {
        PGConnection driver = open.unwrap(PGConnection.class);
        Sql.update(open, "LISTEN " + channel);
        Sql.update(open, "NOTIFY " + channel);
        return driver.getNotifications().length == 0 ? null : new Notices(driver);
    }

    /** Waits for the names of keys; empty at the first call, when notices may have been lost. */
    Optional<Set<String>> await(Duration atMost) throws SQLException {
        if (!complete) {
            complete = true;
            return Optional.empty();
        }
        Set<String> names = new HashSet<>();
        for (PGNotification notice : connection.getNotifications((int) atMost.toMillis())) {
            names.add(notice.getParameter());
        }
        return Optional.of(names);
    }
}
