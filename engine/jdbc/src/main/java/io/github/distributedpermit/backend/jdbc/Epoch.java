package io.github.distributedpermit.backend.jdbc;

import java.util.OptionalLong;

/**
 * The number under which a database that has lost no state keeps its records, as of one moment. Immutable.
 *
 * @param number grows with each loss of state; records of an earlier epoch are void
 * @param graceEnds until when members get back what they held before
 * @param now the clock of the database; both in microseconds since 1970
 */
record Epoch(long number, long graceEnds, long now) {

    /** The end of the grace, counted from this version of a key; empty if there is no grace. */
    OptionalLong graceEnd(long version) {
        return graceEnds > now ? OptionalLong.of(version + graceEnds - now) : OptionalLong.empty();
    }
}
