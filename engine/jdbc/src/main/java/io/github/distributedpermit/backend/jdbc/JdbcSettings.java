package io.github.distributedpermit.backend.jdbc;

import java.time.Duration;

/**
 * What the backend needs to know beside its database. Immutable. The auto-configuration creates it.
 *
 * @param prefix in front of all keys: members with different prefixes share no limits
 * @param tablePrefix in front of the names of the tables, with the schema if they are not in the default one
 * @param session how long permits outlive the last renewal of their process, on the clock of the database
 * @param commandTimeout how long a statement may take before its connection is given up
 * @param emptied how long the row of a key that is not used any more stays at least
 */
public record JdbcSettings(
        String prefix, String tablePrefix, Duration session, Duration commandTimeout, Duration emptied) {

    /** In front of the names of the tables, unless set otherwise. */
    public static final String DEFAULT_TABLE_PREFIX = "distributed_permit_";

    /** Longer than any statement may be under way: one that rests on a deleted row must not meet its successor. */
    private static final Duration DEFAULT_EMPTIED = Duration.ofHours(1);

    private static final int LONGEST_PREFIX = 64;

    /** Checks the values. */
    public JdbcSettings {
        if (!prefix.matches("[\\x21-\\x7E&&[^']]{1," + LONGEST_PREFIX + "}")) {
            throw new IllegalArgumentException(
                    "A prefix of keys in a database has 1 to %d printable ASCII characters without spaces and quotes, not '%s'"
                            .formatted(LONGEST_PREFIX, prefix));
        }
        if (!tablePrefix.matches("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*")) {
            throw new IllegalArgumentException(
                    "A prefix of tables has letters, digits and '_', and may begin with a schema and '.', not '%s'"
                            .formatted(tablePrefix));
        }
        if (session.compareTo(Duration.ofMillis(100)) < 0) {
            throw new IllegalArgumentException("A session of " + session + " is too short");
        }
    }

    /** With the usual time for rows of unused keys. */
    public static JdbcSettings of(String prefix, String tablePrefix, Duration session, Duration commandTimeout) {
        return new JdbcSettings(prefix, tablePrefix, session, commandTimeout, DEFAULT_EMPTIED);
    }
}
