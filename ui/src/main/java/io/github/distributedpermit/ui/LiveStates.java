package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.endpoint.PermitsView;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the pages show. All pages of an instance that show the same permit share one look into the store per
 * {@value #FRESH_MILLIS} ms. Thread-safe.
 */
final class LiveStates {

    static final int FRESH_MILLIS = 500;
    private static final int MOST_NAMES = 100;
    private static final int MOST_KEYS = 50;

    private final Map<String, LiveState> latest = new ConcurrentHashMap<>();
    private final PermitsEndpoint permits;
    private final boolean writable;
    private final Clock clock;

    /** @param writable whether the pages may offer changes */
    LiveStates(PermitsEndpoint permits, boolean writable, Clock clock) {
        this.permits = permits;
        this.writable = writable;
        this.clock = clock;
    }

    /** Without a permit. */
    Map<String, Object> names() {
        return OperationResponseBody.of(
                Map.<String, Object>of("now", clock.instant(), "writable", writable, "names", permits.names()));
    }

    /**
     * Blocks until the store has answered, a command time-out at most.
     *
     * @param key the only one to show; {@code null} for those that this instance knows
     */
    LiveState of(String name, @Nullable String key) {
        String shown = key == null ? name : name + '\n' + key;
        LiveState known = latest.get(shown);
        if (known != null && clock.instant().isBefore(known.now().plusMillis(FRESH_MILLIS))) {
            return known;
        }
        LiveState next = state(permits.permit(name, key, MOST_KEYS));
        if (latest.size() >= MOST_NAMES) {
            latest.clear();
        }
        if (next.permit() != null) {
            latest.put(shown, next);
        }
        return next;
    }

    private LiveState state(PermitsView.@Nullable Detail detail) {
        return new LiveState(clock.instant(), writable, permits.names(), permits.events(), detail);
    }
}
