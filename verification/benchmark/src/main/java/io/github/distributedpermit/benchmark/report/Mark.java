package io.github.distributedpermit.benchmark.report;

import java.util.Locale;

/**
 * What a figure has to reach.
 *
 * @param bound the value itself is good enough
 * @param atMost whether less is better
 */
public record Mark(double bound, boolean atMost) {

    /** Less is better. */
    public static Mark atMost(double bound) {
        return new Mark(bound, true);
    }

    /** More is better. */
    public static Mark atLeast(double bound) {
        return new Mark(bound, false);
    }

    /** Whether the value is good enough. A value that is not a number never is. */
    public boolean isReachedBy(double value) {
        return atMost ? value <= bound : value >= bound;
    }

    @Override
    public String toString() {
        return (atMost ? "<= " : ">= ")
                + (bound == Math.rint(bound) ? String.format(Locale.ROOT, "%.0f", bound) : Double.toString(bound));
    }
}
