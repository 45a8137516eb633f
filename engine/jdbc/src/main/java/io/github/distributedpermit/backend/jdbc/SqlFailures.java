package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;

/**
 * What a failed statement means, by its SQLState: drivers do not agree on the classes of their exceptions. Stateless.
 *
 * <p>States of class 08 are lost connections, 57P of PostgreSQL a server that stops, 53 a lack of resources, 40 a rollback by
 * the database (deadlock), 42 a missing table or right, 28 and 3D a refused login, 22 a value that does not fit.
 */
final class SqlFailures {

    /** The database took the transaction back, or executed nothing of the statement. */
    private static final Set<String> ROLLED_BACK = Set.of("40", "55", "25", "23", "42", "28", "3D", "3F", "22");

    /** A time-out of a lock or of a statement, which the server itself has ended: PostgreSQL, H2. */
    private static final Set<String> ENDED_BY_SERVER = Set.of("57014", "HYT00");
    /** MySQL: a time-out of a lock, and a deadlock, under a general state. */
    private static final Set<Integer> MYSQL_ROLLED_BACK = Set.of(1205, 1213);

    private static final Set<String> PERMANENT = Set.of("42", "28", "3D", "3F", "22");
    /**
     * MySQL and MariaDB, under the state of a missing table: no access to the database, no such database, and too many
     * connections or statements of the user. They may be mended while the application runs.
     */
    private static final Set<Integer> MYSQL_PASSING = Set.of(1044, 1049, 1203, 1226);
    /** H2 has states of its own for missing rights. */
    private static final Map<String, String> GENERAL = Map.of("90096", "42501", "90040", "42501");

    private SqlFailures() {}

    /** Whether another transaction was in the way, so that the same change may be tried again. */
    static boolean isConflict(SQLException e) {
        String state = state(e);
        return state.startsWith("40") || state.startsWith("23") || MYSQL_ROLLED_BACK.contains(e.getErrorCode());
    }

    /** Whether it is certain that the statement has changed nothing, and that the connection can be used. */
    static boolean wroteNothing(SQLException e) {
        String state = state(e);
        return (state.length() == 5 && ROLLED_BACK.contains(state.substring(0, 2)))
                || ENDED_BY_SERVER.contains(state)
                || MYSQL_ROLLED_BACK.contains(e.getErrorCode());
    }

    /** For the core. */
    static PermitStoreException translate(SQLException e, String keyTable) {
        String state = state(e);
        if (state.length() == 5
                && PERMANENT.contains(state.substring(0, 2))
                && !MYSQL_PASSING.contains(e.getErrorCode())) {
            String remedy = state.startsWith("42")
                    ? "; do the tables of permits exist, beginning with %s, are they of this version, and may this user read and change their rows? distributed-permit.jdbc.initialize-schema=always creates those that are missing"
                            .formatted(keyTable)
                    : "";
            return PermitStoreException.permanent(
                    "The database refuses permits (SQLState %s): %s%s".formatted(state, e.getMessage(), remedy), e);
        }
        return PermitStoreException.passing(
                "The database failed (SQLState %s): %s".formatted(state, e.getMessage()), e);
    }

    private static String state(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return GENERAL.getOrDefault(state, state);
    }
}
