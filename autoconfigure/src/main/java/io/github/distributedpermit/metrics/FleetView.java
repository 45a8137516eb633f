package io.github.distributedpermit.metrics;

import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the last refresh has found in the store about all instances, by name. Values are not a number before the first refresh,
 * while the store does not answer, and when the last successful refresh is older than four intervals. Thread-safe.
 */
public final class FleetView {

    private static final int INTERVALS = 4;

    private final long validNanos;
    private final LongSupplier nanoTime;
    private volatile @Nullable Found found;

    /**
     * A view that knows nothing.
     *
     * @param interval how often it is refreshed
     */
    public FleetView(Duration interval) {
        this(interval, System::nanoTime);
    }

    FleetView(Duration interval, LongSupplier nanoTime) {
        this.validNanos = interval.multipliedBy(INTERVALS).toNanos();
        this.nanoTime = nanoTime;
    }

    void show(Map<String, FleetTotals> totals) {
        found = new Found(Map.copyOf(totals), nanoTime.getAsLong());
    }

    double value(String name, ToDoubleFunction<FleetTotals> number) {
        return keys(name, totals -> totals.isUnknown() ? Double.NaN : number.applyAsDouble(totals));
    }

    /** Keys are counted even if nothing else is known of them. */
    double keys(String name, ToDoubleFunction<FleetTotals> number) {
        Found last = found;
        return last == null || nanoTime.getAsLong() - last.at > validNanos
                ? Double.NaN
                : number.applyAsDouble(last.totals.getOrDefault(name, FleetTotals.NONE));
    }

    private record Found(Map<String, FleetTotals> totals, long at) {}
}
