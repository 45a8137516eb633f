package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What differs between databases. Immutable. */
enum Dialect {
    POSTGRESQL(
            "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
            "INSERT INTO {key} (name, revision, touched, document) SELECT ?, ?, GREATEST({now}, ?), ? FROM {member}"
                    + " WHERE id = ? ON CONFLICT (name) DO NOTHING",
            "DELETE FROM {key} WHERE name IN (SELECT name FROM {key} WHERE document = '' AND touched < {now} - ?"
                    + " LIMIT 1000) AND document = '' AND touched < {now} - ?") {
        @Override
        List<String> session(Duration statement) {
            // A server may be set to confirm commits before they are on the disk: a crash would lose permits that are
            // held.
            return List.of(
                    "SET lock_timeout = " + statement.dividedBy(2).toMillis(),
                    "SET statement_timeout = " + statement.toMillis(),
                    // A member that stands still between the statements of a batch and its commit keeps rows locked.
                    "SET idle_in_transaction_session_timeout = " + statement.toMillis(),
                    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'");
        }

        @Override
        boolean isProxied(Connection open) throws SQLException {
            return DRIVER && Notices.isProxied(open);
        }

        @Override
        @Nullable
        Notices listen(Connection open, String channel) throws SQLException {
            return DRIVER ? Notices.listen(open, channel) : null;
        }
    },
    MYSQL(
            "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
            "INSERT IGNORE INTO {key} (name, revision, touched, document) SELECT ?, ?, GREATEST({now}, ?), ? FROM {member}"
                    + " WHERE id = ?",
            "DELETE FROM {key} WHERE document = '' AND touched < {now} - ? AND touched < {now} - ? LIMIT 1000") {
        @Override
        List<String> session(Duration statement) {
            return List.of(
                    "SET SESSION innodb_lock_wait_timeout = " + Math.max(1, statement.toSeconds()),
                    "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')");
        }
    },
    H2(
            "DATEDIFF('MICROSECOND', TIMESTAMP '1970-01-01 00:00:00', CURRENT_TIMESTAMP AT TIME ZONE 'UTC')",
            "INSERT INTO {key} (name, revision, touched, document) SELECT CAST(? AS VARCHAR), CAST(? AS BIGINT),"
                    + " GREATEST({now}, CAST(? AS BIGINT)), CAST(? AS VARCHAR) FROM {member} WHERE id = ?"
                    + " AND NOT EXISTS (SELECT 1 FROM {key} WHERE name = ?)",
            "DELETE FROM {key} WHERE document = '' AND touched < {now} - ? AND touched < {now} - ? LIMIT 1000") {
        @Override
        List<String> session(Duration statement) {
            return List.of("SET LOCK_TIMEOUT " + statement.toMillis());
        }
    };

    private static final boolean DRIVER = hasDriver();

    private final String now;
    private final String insert;
    private final String sweep;

    Dialect(String now, String insert, String sweep) {
        this.now = now;
        this.insert = insert;
        this.sweep = sweep;
    }

    /** By the name that the driver has for it. */
    static Dialect of(String product) {
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "postgresql" -> POSTGRESQL;
            case "mysql", "mariadb" -> MYSQL;
            case "h2" -> H2;
            default ->
                throw PermitStoreException.permanent(
                        "Permits work in PostgreSQL, MySQL, MariaDB and H2, not in %s; set distributed-permit.backend to another store"
                                .formatted(product),
                        null);
        };
    }

    /** The clock, in microseconds since 1970. */
    String now() {
        return now;
    }

    /** Creates the row of a key, unless there is one: name, revision, version, document, session. */
    String insert() {
        return insert;
    }

    /** Deletes some rows of unused keys; the age in microseconds, twice. */
    String sweep() {
        return sweep;
    }

    /** Whether a batch of statements says of each how many rows it has changed. */
    boolean countsBatches() {
        return this != MYSQL;
    }

    /**
     * Executed on each new connection.
     *
     * @param statement how long a statement may wait or run
     */
    abstract List<String> session(Duration statement);

    /** Whether the next transaction may be executed over another connection to the database than this one. */
    boolean isProxied(Connection open) throws SQLException {
        return false;
    }

    /** Begins to receive notices over a connection; {@code null} if it cannot. */
    @Nullable
    Notices listen(Connection open, String channel) throws SQLException {
        return null;
    }

    /** Sends notices: the channels and the names of the keys; {@code null} if the database has none. */
    @Nullable
    String send() {
        return this == POSTGRESQL ? "SELECT pg_notify(c, k) FROM unnest(?::text[], ?::text[]) AS served(c, k)" : null;
    }

    /** Whether the application has the usual driver of PostgreSQL; another one may serve the database as well. */
    private static boolean hasDriver() {
        try {
            Class.forName("org.postgresql.PGConnection", false, Dialect.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
