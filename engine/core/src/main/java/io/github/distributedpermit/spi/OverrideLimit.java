package io.github.distributedpermit.spi;

import java.util.OptionalInt;

/** The one place that says which limits an operator may set. */
public final class OverrideLimit {

    private OverrideLimit() {}

    /**
     * Refuses a negative limit. Every store calls it first, in the caller's thread.
     *
     * @throws IllegalArgumentException if the limit is negative
     */
    public static void check(OptionalInt limit) {
        if (limit.isPresent() && limit.getAsInt() < 0) {
            throw new IllegalArgumentException(
                    "The override of a limit is 0 (a pause) or more, not %d; give an empty one to lift the override"
                            .formatted(limit.getAsInt()));
        }
    }
}
