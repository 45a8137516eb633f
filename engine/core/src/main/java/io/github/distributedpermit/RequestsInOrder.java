package io.github.distributedpermit;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one call for the permits of several keys: one for each key. Those with a name other than their key come first,
 * since such a name has many keys, then by key; the order is that of limited methods with several permits. Their time-outs count
 * from the beginning of the whole call, on the clock of {@link Permits#nanoTime()}. Immutable.
 */
final class RequestsInOrder {

    private final Function<String, NamedPermits> names;
    private final LongSupplier clock;
    private final List<PermitRequest> requests;
    private final long begun;

    /**
     * Of a call that begins now.
     *
     * @param names finds the permits of a name
     * @param clock nanoseconds
     */
    RequestsInOrder(Collection<PermitRequest> requests, Function<String, NamedPermits> names, LongSupplier clock) {
        TreeMap<String, PermitRequest> byKey = new TreeMap<>();
        for (PermitRequest request : requests) {
            byKey.merge(request.key(), request, PermitRequest::and);
        }
        this.names = names;
        this.clock = clock;
        this.requests = byKey.values().stream()
                .sorted(Comparator.comparing(request -> name(request).equals(request.key())))
                .toList();
        this.begun = clock.getAsLong();
    }

    int size() {
        return requests.size();
    }

    /** Where the permits of that request are taken. */
    NamedPermits named(int index) {
        return names.apply(name(requests.get(index)));
    }

    private static String name(PermitRequest request) {
        return Objects.requireNonNullElse(request.name(), request.key());
    }

    /** That request, as it is due now. */
    PermitRequest request(int index) {
        PermitRequest request = requests.get(index);
        @Nullable Duration timeout = request.timeout();
        if (timeout == null || timeout.isZero() || index == 0) {
            return request;
        }
        Duration left = timeout.minusNanos(clock.getAsLong() - begun);
        // zero would mean not to wait, and another reason
        return request.withTimeout(left.isNegative() || left.isZero() ? Duration.ofNanos(1) : left);
    }
}
