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
            // The table loses its rows when the server crashes or is promoted, and gets another id from a restored
            // dump.
            "e.tableoid::text",
            "'{epoch}'::regclass::oid::text",
            "INSERT INTO {key} (revision, touched, epoch, pool, document, name)"
                    + " SELECT ?, GREATEST({now}, ?), ?, ?, ?, ? FROM {live} ON CONFLICT (name) DO NOTHING",
            "DELETE FROM {key} WHERE name IN (SELECT name FROM {key} WHERE document = '' AND touched < {now} - {age}"
                    + " LIMIT " + Statements.UNUSED + ") AND document = '' AND touched < {now} - {age}",
            "SELECT 'pg_is_in_recovery' WHERE pg_is_in_recovery() UNION ALL SELECT 'a table that must not survive a"
                    + " crash; execute ALTER TABLE {epoch} SET UNLOGGED' FROM pg_class"
                    + " WHERE oid = to_regclass('{epoch}') AND relpersistence <> 'u'") {
        @Override
        List<String> session(Duration statement, boolean control) {
            return List.of(
                    "SET lock_timeout = " + statement.dividedBy(2).toMillis(),
                    "SET statement_timeout = " + statement.toMillis(),
                    // A member that stands still within a transaction keeps rows locked.
                    "SET idle_in_transaction_session_timeout = " + statement.toMillis(),
                    // A crash that loses claims empties the table of epochs. How long a grace must last then, the rows
                    // of sessions say, which therefore have to be on the disk before a member has permits.
                    control
                            ? "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
                            : "SET synchronous_commit = off");
        }
    },
    MYSQL(
            "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
            "CONCAT(@@hostname, ':', @@port, ':', @@server_id)",
            "CONCAT(@@hostname, ':', @@port, ':', @@server_id)",
            "INSERT IGNORE INTO {key} (revision, touched, epoch, pool, document, name)"
                    + " SELECT ?, GREATEST({now}, ?), ?, ?, ?, ? FROM {live}",
            "DELETE FROM {key} WHERE document = '' AND touched < {now} - {age} LIMIT " + Statements.UNUSED,
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on') AND Value <> 'OFF'") {
        @Override
        List<String> session(Duration statement, boolean control) {
            return List.of(
                    "SET SESSION innodb_lock_wait_timeout = " + Math.max(1, statement.toSeconds()),
                    "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')");
        }
    },
    H2(
            "DATEDIFF('MICROSECOND', TIMESTAMP '1970-01-01 00:00:00', CURRENT_TIMESTAMP AT TIME ZONE 'UTC')",
            "'h2'",
            "'h2'",
            "INSERT INTO {key} (revision, touched, epoch, pool, document, name) SELECT CAST(? AS BIGINT),"
                    + " GREATEST({now}, CAST(? AS BIGINT)), CAST(? AS BIGINT), CAST(? AS INT), CAST(? AS VARCHAR),"
                    + " CAST(? AS VARCHAR) FROM {live}",
            "DELETE FROM {key} WHERE document = '' AND touched < {now} - {age} LIMIT " + Statements.UNUSED,
            "SELECT 'jdbc:h2:mem: without a name' WHERE LOWER(DATABASE()) = 'unnamed'") {
        @Override
        List<String> session(Duration statement, boolean control) {
            return List.of("SET LOCK_TIMEOUT " + statement.toMillis());
        }
    };

    /** The clock, in microseconds since 1970. */
    final String now;
    /** Which server has the row {@code e} of the table of epochs; another one has, or may have, other permits. */
    final String server;
    /** The same, for a row that is about to be written. */
    final String thisServer;
    /**
     * Creates the row of a key: revision, version, epoch, pool, document, name, session, epoch. If there is one, it changes no
     * row, or fails.
     */
    final String insert;
    /** Deletes some rows of unused keys. */
    final String sweep;
    /** Answers with the reason why permits cannot live there, if there is one. */
    final String refusal;

    Dialect(String now, String server, String thisServer, String insert, String sweep, String refusal) {
        this.now = now;
        this.server = server;
        this.thisServer = thisServer;
        this.insert = insert;
        this.sweep = sweep;
        this.refusal = refusal;
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

    /**
     * Whether a batch of statements is one message, one transaction without further ones, and says of each statement how many rows
     * it has changed. Elsewhere statements are executed one by one between others that begin and end the transaction.
     */
    boolean sendsBatches() {
        return this == POSTGRESQL;
    }

    /**
     * Executed on each new connection.
     *
     * @param statement how long a statement may wait or run
     * @param control whether it is the connection for the session, or the one for claims
     */
    abstract List<String> session(Duration statement, boolean control);

    /**
     * Unless it is certain that only this client uses the connection of the server: a setting might reach transactions of the
     * application.
     */
    boolean isShared(Connection open) throws SQLException {
        // The class of the driver may be missing.
        return this == POSTGRESQL
                && (!open.getMetaData().getDriverName().equals("PostgreSQL JDBC Driver") || Notices.isShared(open));
    }

    /** Begins to receive notices over a connection; {@code null} if it cannot. */
    @Nullable
    Notices listen(Connection open, String channel) throws SQLException {
        return this == POSTGRESQL ? Notices.listen(open, channel) : null;
    }

    /** Sends notices: the channels and the names of the keys; {@code null} if the database has none. */
    @Nullable
    String send() {
        return this == POSTGRESQL ? "SELECT pg_notify(c, k) FROM unnest(?::text[], ?::text[]) AS served(c, k)" : null;
    }

    /**
     * A transaction that keeps dead rows of keys from being removed, and is older than a sixth of the time for which rows of
     * unused keys stay: its process, its age in seconds, and how many rows; {@code null} if the database does not become slower
     * by that.
     */
    @Nullable
    String oldSnapshot() {
        return this == POSTGRESQL
                ? "SELECT a.pid, EXTRACT(EPOCH FROM clock_timestamp() - a.xact_start)::bigint, t.n_dead_tup"
                        + " FROM pg_stat_activity a, pg_stat_user_tables t WHERE t.relid = '{key}'::regclass"
                        + " AND t.n_dead_tup > 10000 AND a.backend_xmin IS NOT NULL AND a.pid <> pg_backend_pid()"
                        + " AND a.xact_start < clock_timestamp() - {age} / 6 * INTERVAL '1 microsecond' ORDER BY a.xact_start LIMIT 1"
                : null;
    }
}
