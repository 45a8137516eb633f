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
        return Taking.start(this, context);
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

    /** See {@link #acquireAsync}: each permit is asked for when the one before it has come. Thread-safe. */
    private static final class Taking extends CompletableFuture<PermitGroup> {

        private final AllOrNothing requests;
        private final UnaryOperator<Runnable> context;

        /** Changed by one step at a time, each of which happens after the one before. */
        private final List<Permit> taken = new ArrayList<>();

        /** The request under way, or the last one. */
        private volatile @Nullable CompletableFuture<Permit> current;

        private volatile @Nullable Throwable reason;

        private Taking(AllOrNothing requests, UnaryOperator<Runnable> context) {
            this.requests = requests;
            this.context = context;
        }

        static CompletableFuture<PermitGroup> start(AllOrNothing requests, UnaryOperator<Runnable> context) {
            Taking call = new Taking(requests, context);
            call.whenComplete((group, failure) -> call.leaveTheQueue());
            call.guarded(call::takeRest);
            return call;
        }

        /**
         * An error between two steps, such as an exhausted stack, would be swallowed by the stage that runs the step: the permits taken
         * so far would be held for ever, and the future would never end.
         */
        private void guarded(Runnable step) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }

        /** A loop, as permits that are at hand come at once: with recursion many keys would exhaust the stack. */
        private void takeRest() {
            while (!isDone() && taken.size() < requests.size()) {
                CompletableFuture<Permit> next = requests.ask(taken.size());
                current = next;
                if (!next.isDone() || next.isCompletedExceptionally()) {
                    boolean furtherOnes = taken.size() + 1 < requests.size();
                    Runnable rest = furtherOnes ? context.apply(this::takeRest) : this::takeRest;
                    next.whenComplete((permit, failure) -> guarded(() -> ended(permit, failure, rest)));
                    if (isDone()) {
                        leaveTheQueue(); // ended before this request was known
                    }
                    return;
                }
                taken.add(next.join());
            }
            if (isDone() || !complete(new PermitGroup(taken))) {
                giveBack();
            }
        }

        private void ended(@Nullable Permit permit, @Nullable Throwable failure, Runnable rest) {
            if (permit == null) {
                fail(failure == null ? new IllegalStateException("A request ended without a permit") : failure);
            } else {
                taken.add(permit);
                rest.run();
            }
        }

        /** Giving back may cancel the request under way, which then fails as well: the first reason is the one to report. */
        private void fail(Throwable failure) {
            Throwable first = reason;
            if (first == null) {
                reason = failure;
                first = failure;
            }
            try {
                giveBack();
            } finally {
                completeExceptionally(first);
            }
        }

        /** The permit of the request under way may be one that no step has seen. Releasing one again has no effect. */
        private void giveBack() {
            CompletableFuture<Permit> last = current;
            try {
                if (last != null && !last.cancel(false) && !last.isCompletedExceptionally()) {
                    last.join().release();
                }
            } finally {
                PermitGroup.releaseAll(taken);
            }
        }

        /** What was taken is given back by the request that is cancelled here, when it ends. */
        private void leaveTheQueue() {
            CompletableFuture<Permit> waiting = current;
            if (waiting != null) {
                waiting.cancel(false);
            }
        }

        /** Stages that follow are ordinary futures: cancelling them does not cancel the call. */
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
