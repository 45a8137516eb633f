package io.github.distributedpermit;

import io.github.distributedpermit.TakingOrder.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The permits of several keys for one call, which gets all of them or none. They are taken one after the other. Their time-outs count
 * from the beginning of the whole call, on the clock of {@link Permits#nanoTime()}. {@link Permits#acquireAll} and the advice of
 * methods with several annotations take their permits here. For one call.
 */
public final class AllOrNothing {

    private final Permits permits;
    private final List<Step> steps;
    private final Function<PermitRequest, @Nullable Permit> joined;
    private final long begun;
    private volatile int last;

    /** Whether permits were lost while the call waited for the others, so that it takes all of them anew. Once, however often they are lost. */
    private volatile boolean anew;

    private AllOrNothing(Permits permits, List<Step> steps, Function<PermitRequest, @Nullable Permit> joined) {
        this.permits = permits;
        this.steps = steps;
        this.joined = joined;
        this.begun = permits.nanoTime();
    }

    /**
     * A call that begins now. It takes one permit for each key, requests for the same key put together, and those that the requested
     * ones lie {@linkplain NamedPermits#within() within}; narrow ones before wide ones, in an order that depends on names and keys only.
     *
     * @param requests for keys whose name is that of the request, else the key itself
     * @throws IllegalArgumentException if a request lies within a permit whose key is made for each call, and none asks for that
     */
    public static AllOrNothing of(Permits permits, Collection<PermitRequest> requests) {
        return new AllOrNothing(permits, TakingOrder.of(permits::named, requests), request -> null);
    }

    /**
     * The same call for {@link #acquireAsync}, which joins permits of an outer call. The blocking forms join those of their thread.
     *
     * @param joined the permit that a request joins, see {@link PermitContext#join}; {@code null} if it takes its own
     */
    public AllOrNothing joining(Function<PermitRequest, @Nullable Permit> joined) {
        return new AllOrNothing(permits, steps, joined);
    }

    /** What the call takes, in that order. */
    public List<PermitRequest> requests() {
        return steps.size() == 1
                ? List.of(steps.get(0).request())
                : steps.stream().map(Step::request).toList();
    }

    /** The definition of the permit at this place if no request asked for it, and the call takes it since others lie within it. */
    public @Nullable PermitDefinition added(int index) {
        return steps.get(index).added();
    }

    /**
     * Waits for all of them. Gives back what it has if it does not get all.
     *
     * @param taken receives each permit before the next one is asked for
     */
    public PermitGroup acquire(Consumer<Permit> taken) throws InterruptedException {
        return acquire(NamedPermits::acquire, taken);
    }

    /** The same as one permit: that of the first request, with the permits that it lies within. */
    public Permit acquireAsOne() throws InterruptedException {
        return asOne(acquire(NamedPermits::acquire, taken -> {}));
    }

    /** The same, going on when the thread is interrupted, see {@link NamedPermits#acquireUninterruptibly}. */
    public Permit acquireAsOneUninterruptibly() {
        return asOne(acquire(NamedPermits::acquireUninterruptibly, taken -> {}));
    }

    private static Permit asOne(PermitGroup taken) {
        try {
            return new NestedPermit(taken);
        } catch (Error e) { // the heap is full: no caller gets them
            taken.close();
            throw e;
        }
    }

    private <X extends Exception> PermitGroup acquire(Wait<X> wait, Consumer<Permit> taken) throws X {
        PermitGroup group = takeAll(wait, taken);
        return mustTakeAnew(group.permits()) ? takeAll(wait, taken) : group;
    }

    private <X extends Exception> PermitGroup takeAll(Wait<X> wait, Consumer<Permit> taken) throws X {
        List<Permit> all = new ArrayList<>(steps.size());
        PermitGroup group = null;
        try {
            for (int i = 0; i < steps.size(); i++) {
                last = i;
                Permit permit = wait.acquire(steps.get(i).permits(), due(i));
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

    /** Gives the permits back if one of them was lost during the wait for the others: another call may have it by now. */
    private boolean mustTakeAnew(List<Permit> taken) {
        if (anew || taken.size() < 2) {
            return false;
        }
        boolean held = false;
        try {
            held = taken.stream().allMatch(Permit::isHeld);
        } finally { // also after an Error, such as one of a full stack
            if (!held) {
                anew = true;
                PermitGroup.releaseAll(taken);
            }
        }
        return !held;
    }

    private interface Wait<X extends Exception> {
        Permit acquire(NamedPermits permits, PermitRequest request) throws X;
    }

    /**
     * The same without a thread that waits. If the future ends in any other way, such as a cancellation or a time-out of its user's
     * own, the call leaves the queue and gives back what it has.
     *
     * @param context wraps what asks for further permits on the thread that brings the one before
     */
    public CompletableFuture<PermitGroup> acquireAsync(UnaryOperator<Runnable> context) {
        return Taking.start(this, context, group -> group);
    }

    /** The same as one permit, see {@link #acquireAsOne}. */
    public CompletableFuture<Permit> acquireAsOneAsync() {
        return Taking.start(this, UnaryOperator.identity(), NestedPermit::new);
    }

    /** The index of the request that was asked for last: after a failure, the one that failed. */
    public int last() {
        return last;
    }

    int size() {
        return steps.size();
    }

    CompletableFuture<Permit> ask(int index) {
        last = index;
        Step step = steps.get(index);
        Permit outer = joined.apply(step.request());
        return outer == null ? step.permits().acquireAsync(due(index)) : CompletableFuture.completedFuture(outer);
    }

    /** The request as it is due now. */
    private PermitRequest due(int index) {
        PermitRequest request = steps.get(index).request();
        @Nullable Duration timeout = request.timeout();
        if (timeout == null || timeout.isZero() || (index == 0 && !anew)) {
            return request;
        }
        Duration left = timeout.minusNanos(permits.nanoTime() - begun);
        // zero would mean not to wait, and another reason
        return request.withTimeout(left.isNegative() || left.isZero() ? Duration.ofNanos(1) : left);
    }

    /** See {@link #acquireAsync}: each permit is asked for when the one before it has come. Thread-safe. */
    private static final class Taking<T> extends CompletableFuture<T> {

        private final AllOrNothing requests;
        private final UnaryOperator<Runnable> context;
        private final Function<PermitGroup, T> result;

        /** Changed by one step at a time, each of which happens after the one before. */
        private final List<Permit> taken = new ArrayList<>();

        /** The request under way, or the last one. */
        private volatile @Nullable CompletableFuture<Permit> current;

        private volatile @Nullable Throwable reason;

        private Taking(AllOrNothing requests, UnaryOperator<Runnable> context, Function<PermitGroup, T> result) {
            this.requests = requests;
            this.context = context;
            this.result = result;
        }

        static <T> CompletableFuture<T> start(
                AllOrNothing requests, UnaryOperator<Runnable> context, Function<PermitGroup, T> result) {
            Taking<T> call = new Taking<>(requests, context, result);
            call.whenComplete((group, failure) -> call.leaveTheQueue());
            try {
                call.takeRest();
            } catch (RuntimeException | Error e) {
                call.fail(e);
            }
            return call;
        }

        /** A loop, as permits that are at hand come at once: with recursion many keys would exhaust the stack. */
        private void takeRest() {
            while (!isDone() && !hasAll()) {
                CompletableFuture<Permit> next = requests.ask(taken.size());
                current = next;
                if (!next.isDone() || next.isCompletedExceptionally()) {
                    boolean furtherOnes = taken.size() + 1 < requests.size() || (requests.size() > 1 && !requests.anew);
                    Runnable rest = furtherOnes ? context.apply(this::takeRest) : this::takeRest;
                    next.whenComplete((permit, failure) -> ended(permit, failure, rest));
                    if (isDone()) {
                        leaveTheQueue(); // ended before this request was known
                    }
                    return;
                }
                taken.add(next.join());
            }
            if (isDone() || !complete(result.apply(new PermitGroup(taken)))) {
                giveBack();
            }
        }

        private boolean hasAll() {
            boolean all = taken.size() == requests.size();
            if (all && requests.mustTakeAnew(taken)) {
                taken.clear();
                return false;
            }
            return all;
        }

        /**
         * An error in here, such as an exhausted stack, would be swallowed by the stage that runs it: the permits taken so far would be
         * held for ever, and the future would never end.
         */
        private void ended(@Nullable Permit permit, @Nullable Throwable failure, Runnable rest) {
            try {
                if (permit == null) {
                    fail(failure == null ? new IllegalStateException("A request ended without a permit") : failure);
                } else {
                    taken.add(permit);
                    rest.run();
                }
            } catch (RuntimeException | Error e) {
                fail(e);
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
