package io.github.distributedpermit;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one call for the permits of several keys: one for each key, in the order of the keys. Their time-outs count
 * from the beginning of the whole call, on the clock of {@link Permits#nanoTime()}. Immutable.
 */
final class RequestsInOrder {

    private final Permits permits;
    private final List<PermitRequest> requests;
    private final long begun;

    RequestsInOrder(Permits permits, Collection<PermitRequest> requests) {
        TreeMap<String, PermitRequest> byKey = new TreeMap<>();
        for (PermitRequest request : requests) {
            byKey.merge(request.key(), request, PermitRequest::and);
        }
        this.permits = permits;
        this.requests = List.copyOf(byKey.values());
        this.begun = permits.nanoTime();
    }

    int size() {
        return requests.size();
    }

    /** Where the permits of that request are taken. */
    NamedPermits named(int index) {
        PermitRequest request = requests.get(index);
        return permits.named(Objects.requireNonNullElse(request.name(), request.key()));
    }

    /** That request, as it is due now. */
    PermitRequest request(int index) {
        PermitRequest request = requests.get(index);
        @Nullable Duration timeout = request.timeout();
        if (timeout == null || timeout.isZero() || index == 0) {
            return request;
        }
        Duration left = timeout.minusNanos(permits.nanoTime() - begun);
        // zero would mean not to wait, and another reason
        return request.withTimeout(left.isNegative() || left.isZero() ? Duration.ofNanos(1) : left);
    }
}
