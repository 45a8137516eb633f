package io.github.distributedpermit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The permits of several keys for one call, which gets all of them or none. They are taken one after the other. Their time-outs count
 * from the beginning of the whole call, on the clock of {@link Permits#nanoTime()}. {@link Permits#acquireAll} and the advice of
 * methods with several annotations take their permits here. For one call.
 */
public final class AllOrNothing {

    private final Permits permits;
    private final List<PermitRequest> requests;
    private final long begun;
    private volatile int last;

    /**
     * A call that begins now.
     *
     * @param requests each with another key, in the order in which they are asked for, see {@link #inOrder}
     */
    public AllOrNothing(Permits permits, List<PermitRequest> requests) {
        this.permits = permits;
        this.requests = requests;
        this.begun = permits.nanoTime();
    }

    /**
     * One request for each key, in an order that is the same in all methods and processes, so that no two such calls wait for each other.
     * Keys that are made for each call come before those that many calls share: such a key usually divides the calls of a shared one, and
     * a call that waits for its part must not hold permits that all others need. Within both groups requests are sorted by key, and not
     * by name, since one key may have several names.
     *
     * @param shared whether the key of a request is the same for many calls
     */
    public static List<PermitRequest> inOrder(Collection<PermitRequest> requests, Predicate<PermitRequest> shared) {
        TreeMap<String, PermitRequest> byKey = new TreeMap<>();
        for (PermitRequest request : requests) {
            byKey.merge(request.key(), request, PermitRequest::and);
        }
        return byKey.values().stream()
                .sorted(Comparator.comparing(shared::test))
                .toList();
    }

    /** As code means them: a name other than the key has many keys. */
    static AllOrNothing of(Permits permits, Collection<PermitRequest> requests) {
        return new AllOrNothing(
                permits, inOrder(requests, request -> nameOf(request).equals(request.key())));
    }

    private static String nameOf(PermitRequest request) {
        return Objects.requireNonNullElse(request.name(), request.key());
    }

    /**
     * Waits for all of them. Gives back what it has if it does not get all.
     *
     * @param taken receives each permit before the next one is asked for
     */
    public PermitGroup acquire(Consumer<Permit> taken) throws InterruptedException {
        List<Permit> all = new ArrayList<>(requests.size());
        PermitGroup group = null;
        try {
            for (int i = 0; i < requests.size(); i++) {
                last = i;
                Permit permit = named(i).acquire(due(i));
                all.add(permit);
                taken.accept(permit);
            }
            group = new PermitGroup(all);
            return group;
        } finally {
            if (group == null) {
                PermitGroup.releaseAll(all);
            }
        }
    }

    /**
     * The same without a thread that waits. If the future ends in any other way, such as a cancellation or a time-out of its user's
     * own, the call leaves the queue and gives back what it has.
     *
     * @param context wraps what asks for further permits on the thread that brings the one before
     */
    public CompletableFuture<PermitGroup> acquireAsync(UnaryOperator<Runnable> context) {
        return AllOrNothingAsync.start(this, context);
    }

    /** The index of the request that was asked for last: after a failure, the one that failed. */
    public int last() {
        return last;
    }

    int size() {
        return requests.size();
    }

    CompletableFuture<Permit> ask(int index) {
        last = index;
        return named(index).acquireAsync(due(index));
    }

    private NamedPermits named(int index) {
        return permits.named(nameOf(requests.get(index)));
    }

    /** The request as it is due now. */
    private PermitRequest due(int index) {
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
