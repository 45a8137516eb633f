package io.github.distributedpermit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes the permits of several keys for one call: one request for each key, in the order of the keys, which is the same in all
 * processes. So two calls of this kind never wait for each other. Gives back what it has if it does not get all.
 */
final class AllOrNothing {

    private final Permits permits;
    private final long begun = System.nanoTime();
    private final List<Permit> taken = new ArrayList<>();

    private AllOrNothing(Permits permits) {
        this.permits = permits;
    }

    static PermitGroup acquire(Permits permits, Collection<PermitRequest> requests) throws InterruptedException {
        TreeMap<String, PermitRequest> byKey = new TreeMap<>();
        for (PermitRequest request : requests) {
            byKey.merge(request.key(), request, PermitRequest::and);
        }
        return new AllOrNothing(permits).acquire(byKey.values());
    }

    private PermitGroup acquire(Collection<PermitRequest> inOrder) throws InterruptedException {
        boolean complete = false;
        try {
            for (PermitRequest request : inOrder) {
                String name = Objects.requireNonNullElse(request.name(), request.key());
                taken.add(permits.named(name).acquire(withTimeLeft(request)));
            }
            PermitGroup group = new PermitGroup(taken);
            complete = true;
            return group;
        } finally {
            if (!complete) {
                giveBack();
            }
        }
    }

    /** The time-out counts from the beginning of the whole call. */
    private PermitRequest withTimeLeft(PermitRequest request) {
        @Nullable Duration timeout = request.timeout();
        if (timeout == null || timeout.isZero() || taken.isEmpty()) {
            return request;
        }
        Duration left = timeout.minusNanos(System.nanoTime() - begun);
        // zero would mean not to wait, and another reason
        return request.withTimeout(left.isNegative() || left.isZero() ? Duration.ofNanos(1) : left);
    }

    private void giveBack() {
        for (int i = taken.size() - 1; i >= 0; i--) {
            taken.get(i).release();
        }
    }
}
