package io.github.distributedpermit.benchmark.load;

import java.time.Duration;
import java.util.Arrays;

/**
 * What the calls of a crowd came to. Waits that are open at the end count with what they have waited.
 *
 * @param mean wait in nanoseconds
 * @param slow wait in nanoseconds that one call of a thousand exceeds
 * @param longest wait in nanoseconds
 * @param perSecond grants
 * @param failed calls that ended with an exception
 * @param violations calls that entered while as many as allowed were inside
 */
public record CrowdResult(double mean, double slow, double longest, double perSecond, long failed, long violations) {

    private static final double SLOW = 0.999;

    static CrowdResult of(long[] sortedWaits, Duration length, long failed, long violations) {
        int last = sortedWaits.length - 1;
        return new CrowdResult(
                Arrays.stream(sortedWaits).average().orElse(Double.NaN),
                last < 0 ? Double.NaN : sortedWaits[(int) (SLOW * last)],
                last < 0 ? Double.NaN : sortedWaits[last],
                sortedWaits.length / (length.toNanos() / 1e9),
                failed,
                violations);
    }

    /** Longest wait by mean wait. */
    public double longestByMean() {
        return longest / mean;
    }
}
