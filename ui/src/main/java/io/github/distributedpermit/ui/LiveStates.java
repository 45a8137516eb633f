package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.endpoint.PermitsView;
import io.github.distributedpermit.endpoint.PermitsView.Fleet;
import io.github.distributedpermit.endpoint.PermitsView.Summary;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the pages show. All pages of an instance that show the same share one look into the store, which is shown for half a second, or
 * for four times as long as it took, so that pages take a fifth of the store's time at most. Thread-safe.
 */
final class LiveStates {

    static final long FRESH_NANOS = Duration.ofMillis(500).toNanos();
    static final int ROWS = 50;
    private static final int LOOK_PART = 4;
    private static final int MOST_LISTS = 10;
    private static final int MOST_DETAILS = 100;
    private static final int MOST_KEYS = 50;
    private static final int MOST_CALLS = 100;
    private static final Comparator<Summary> FULLEST_FIRST = Comparator.comparingDouble(LiveStates::use)
            .thenComparingInt(LiveStates::waiting)
            .reversed()
            .thenComparing(Summary::name);

    private final Map<String, Look<PermitsView>> lists = new ConcurrentHashMap<>();
    private final Map<Selection, Look<LiveState>> details = new ConcurrentHashMap<>();
    private final PermitsEndpoint permits;
    private final LiveState.Settings settings;
    private final Clock clock;
    private final LongSupplier nanoTime;

    LiveStates(PermitsEndpoint permits, LiveState.Settings settings, Clock clock, LongSupplier nanoTime) {
        this.permits = permits;
        this.settings = settings;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /**
     * A part of the list of all permits, the fullest first. Blocks until the store has answered, two command time-outs at most.
     *
     * @param filter part of the names
     * @param from the place of the first one
     */
    LiveState list(String filter, int from) {
        PermitsView view = look(lists, MOST_LISTS, filter).get(() -> permits.permits(filter));
        int first = Math.max(0, Math.min(from, view.permits().size() - 1) / ROWS * ROWS);
        List<Summary> rows = view.permits().stream()
                .sorted(FULLEST_FIRST)
                .skip(first)
                .limit(ROWS)
                .toList();
        LiveState.Page page = new LiveState.Page(
                view.application(),
                rows,
                first,
                view.permits().size(),
                view.truncated(),
                view.problem(),
                view.shortestLeases());
        return new LiveState(clock.instant(), settings, view.store(), view.instance(), view.events(), page, null);
    }

    /**
     * One permit. Blocks until the store has answered, two command time-outs at most.
     *
     * @param key the only one to show; {@code null} for those that this instance knows
     */
    LiveState of(String name, @Nullable String key) {
        return look(details, MOST_DETAILS, new Selection(name, key)).get(() -> {
            PermitsView.Detail detail = permits.permit(name, key, MOST_KEYS, MOST_CALLS);
            return new LiveState(clock.instant(), settings, null, null, permits.events(), null, detail);
        });
    }

    private record Selection(String name, @Nullable String key) {}

    private <W, T> Look<T> look(Map<W, Look<T>> looks, int most, W what) {
        if (looks.size() >= most) {
            looks.clear();
        }
        return looks.computeIfAbsent(what, first -> new Look<>());
    }

    private static double use(Summary permit) {
        Fleet fleet = permit.fleet();
        return permit.allPaused() ? 1 : fleet == null ? -1 : fleet.use();
    }

    private static int waiting(Summary permit) {
        Fleet fleet = permit.fleet();
        return fleet == null ? permit.waiting() : fleet.waiting();
    }

    /** What the pages see of the same. One of them looks, and the others wait for its answer. */
    private final class Look<T> {

        private @Nullable T seen;
        private long fresh;

        synchronized T get(Supplier<T> look) {
            long begin = nanoTime.getAsLong();
            T known = seen;
            if (known != null && begin - fresh < 0) {
                return known;
            }
            T next = look.get();
            long end = nanoTime.getAsLong();
            seen = next;
            fresh = end + Math.max(FRESH_NANOS, LOOK_PART * (end - begin));
            return next;
        }
    }
}
