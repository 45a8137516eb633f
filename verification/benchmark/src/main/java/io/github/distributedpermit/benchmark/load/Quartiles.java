package io.github.distributedpermit.benchmark.load;

import java.util.Arrays;
import java.util.Collection;

/**
 * The middle of a sample and how far its middle half spreads.
 *
 * @param lower a quarter of the values lie below
 * @param median half of the values lie below
 * @param upper a quarter of the values lie above
 */
public record Quartiles(double lower, double median, double upper) {

    /** One value only. */
    public static Quartiles exactly(double value) {
        return new Quartiles(value, value, value);
    }

    /** Of the values that are numbers; not a number if there are none. */
    public static Quartiles of(double... values) {
        double[] sorted =
                Arrays.stream(values).filter(v -> !Double.isNaN(v)).sorted().toArray();
        return new Quartiles(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
    }

    /** The same. */
    public static Quartiles of(Collection<Double> values) {
        return of(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private static double at(double[] sorted, double share) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        double place = share * (sorted.length - 1);
        int below = (int) Math.floor(place);
        int above = (int) Math.ceil(place);
        return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
    }
}
