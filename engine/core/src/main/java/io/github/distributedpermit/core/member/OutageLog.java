package io.github.distributedpermit.core.member;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.core.key.LogSafe;
import io.github.distributedpermit.core.key.NameCounts;
import io.github.distributedpermit.core.key.PermitStats;
import io.github.distributedpermit.spi.PermitProperty;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Logs that calls run without the store: once for each permit name and outage when the first call does, and once when the
 * outage ends. Thread-safe.
 */
final class OutageLog {

    private static final Logger LOG = System.getLogger(OutageLog.class.getName());

    private final String store;
    private final Map<NameCounts, LongAdder> calls = new ConcurrentHashMap<>();

    /** A log for the store that messages call so. */
    OutageLog(String store) {
        this.store = store;
    }

    /** A call runs without the store, which has not answered for this many nanoseconds. */
    void ran(PermitStats stats, OnStoreFailure how, int share, int limit, long nanos, int instances, int keys) {
        LongAdder count = calls.get(stats.counts);
        if (count == null) {
            LongAdder first = new LongAdder();
            count = calls.putIfAbsent(stats.counts, first);
            if (count == null) {
                count = first;
                logBegin(stats, how, share, limit, nanos, instances, keys);
            }
        }
        count.increment();
    }

    private void logBegin(
            PermitStats stats, OnStoreFailure how, int share, int limit, long nanos, int instances, int keys) {
        String what = how == OnStoreFailure.LOCAL
                ? "LOCAL: this instance grants %d of the %d permits of a key, its share among %d instance(s)"
                        .formatted(share, limit, instances)
                : "ALLOW: all of them run, and no limit is kept";
        LOG.log(
                Level.WARNING,
                "The store of permits {0} has not answered for {1} ms. From now on calls of permit ''{2}'' run without it"
                        + " (onStoreFailure = {3}), until it has answered steadily. Keys in use: {4}. Check the store and its"
                        + " connection; set {5} to FAIL to have such calls fail instead.",
                store,
                Long.toString(TimeUnit.NANOSECONDS.toMillis(nanos)),
                LogSafe.escape(stats.observedName()),
                what,
                Integer.toString(keys),
                LogSafe.escape(PermitProperty.of(stats.observedName(), "on-store-failure")));
    }

    /** The store is used again after this many nanoseconds. */
    void ended(long nanos) {
        List<String> names = new ArrayList<>();
        long all = 0;
        for (NameCounts counts : List.copyOf(calls.keySet())) {
            LongAdder count = calls.remove(counts);
            if (count != null) {
                long ran = count.sum();
                all += ran;
                names.add("'" + LogSafe.escape(counts.name()) + "' (" + ran + ", " + counts.withoutStore()
                        + " permit(s) of them still in use)");
            }
        }
        LOG.log(
                Level.WARNING,
                "The store of permits {0} answers again and is used again after {1} ms. Meanwhile {2} call(s) ran without it:"
                        + " {3}. Permits still in use are recorded in the store before other calls get any.",
                store,
                Long.toString(TimeUnit.NANOSECONDS.toMillis(nanos)),
                Long.toString(all),
                names.stream().sorted().collect(Collectors.joining(", ")));
    }
}
