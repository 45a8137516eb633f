package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a run that take permits of several keys: k0 lies within k1, and that within k2. They ask for any of the three in any order,
 * and get all that these lie within.
 */
final class SimChains {

    private static final long MILLI = Weather.MILLI;

    private final SimPlan plan;
    private final Timeline time;
    private final SimInvariants invariants;
    private final World world;
    private final Set<Chain> waiting = new LinkedHashSet<>();
    private final long[] stalledSince;

    SimChains(SimPlan plan, Timeline time, SimInvariants invariants, World world) {
        this.plan = plan;
        this.time = time;
        this.invariants = invariants;
        this.world = world;
        this.stalledSince = new long[plan.limits.length];
    }

    /** What a chain needs of the run. */
    interface World {

        /** One permit of a call that has all. */
        void holds(SimCall call, Permit permit);

        void release(SimCall call);

        void paid(SimMember member, int key);

        void ended(@Nullable Throwable failure);

        void trace(Supplier<String> line);
    }

    /** One call. */
    private record Chain(long number, SimMember member, int innermost, boolean block, long timeout, long arrivedAt) {

        @Override
        public String toString() {
            return "chain %d (%s from k%d%s)"
                    .formatted(
                            number,
                            member,
                            innermost,
                            block ? timeout < 0 ? "" : " " + timeout / MILLI + " ms" : " try");
        }
    }

    Set<?> waiting() {
        waiting.removeIf(chain -> !chain.member.isRunning());
        return waiting;
    }

    /** A call arrives. */
    void start(
            SimMember member,
            Random random,
            boolean block,
            long timeout,
            long cancelAfter,
            long hold,
            BiFunction<Integer, Permit, SimCall> callOf,
            long number) {
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < plan.limits.length; key++) {
            if (random.nextBoolean() || (keys.isEmpty() && key == plan.limits.length - 1)) {
                keys.add(key);
            }
        }
        Chain chain = new Chain(number, member, keys.get(0), block, timeout, time.now());
        Collections.shuffle(keys, random);
        world.trace(() -> chain + " comes for " + keys);
        paid(chain);
        waiting.add(chain);
        List<PermitRequest> requests = keys.stream()
                .map(key -> request(SimMember.name(key), block, timeout))
                .toList();
        CompletableFuture<PermitGroup> future = member.engine.acquireAllAsync(requests);
        future.whenComplete((group, failure) -> ended(chain, group, failure, hold, callOf));
        if (cancelAfter >= 0) {
            time.after(cancelAfter, member.process, () -> {
                if (waiting.contains(chain)) {
                    world.trace(() -> chain + " is cancelled");
                    paid(chain);
                    future.cancel(false);
                }
            });
        }
    }

    private static PermitRequest request(String key, boolean block, long timeout) {
        PermitRequest.Builder request = PermitRequest.builder(key);
        if (!block) {
            request.withoutWaiting();
        } else if (timeout >= 0) {
            request.timeout(Duration.ofNanos(timeout));
        }
        return request.build();
    }

    private void ended(
            Chain chain,
            @Nullable PermitGroup group,
            @Nullable Throwable failure,
            long hold,
            BiFunction<Integer, Permit, SimCall> callOf) {
        waiting.remove(chain);
        paid(chain);
        world.ended(failure);
        world.trace(() -> chain + " ends: " + (group != null ? group.permits() : failure));
        if (group != null) {
            if (group.permits().size() != plan.limits.length - chain.innermost) {
                throw invariants.violation("%s has %s", chain, group.permits());
            }
            List<SimCall> calls = new ArrayList<>();
            for (Permit permit : group.permits()) {
                SimCall call = callOf.apply(SimMember.key(permit.key()), permit);
                calls.add(call);
                world.holds(call, permit);
            }
            time.after(hold, chain.member.process, () -> {
                Collections.reverse(calls);
                calls.forEach(world::release);
            });
        } else if (failure instanceof PermitRejectedException rejected) {
            boolean ownFault = switch (rejected.reason()) {
                case LIMIT_REACHED -> chain.block;
                case TIMED_OUT -> chain.timeout < 0 || time.now() - chain.arrivedAt < chain.timeout;
                case WOULD_TIME_OUT -> chain.timeout < 0;
                case SHUTTING_DOWN -> !chain.member.leaving;
                case ABOVE_LIMIT, QUEUE_FULL -> false;
                case TOO_MANY_KEYS -> true;
            };
            if (ownFault) {
                throw invariants.violation("%s ended with %s", chain, rejected.reason());
            }
        } else if (failure instanceof PermitBackendException) {
            if (plan.severity == 0 && chain.timeout < 0) {
                throw invariants.violation("%s failed with a store that is well: %s", chain, failure);
            }
        } else if (!(failure instanceof CancellationException)) {
            throw invariants.violation("%s ended with %s", chain, String.valueOf(failure));
        }
    }

    private void paid(Chain chain) {
        for (int key = chain.innermost; key < plan.limits.length; key++) {
            world.paid(chain.member, key);
        }
    }

    /** Free permits of all keys that a call needs and that call never coexist for long. */
    void check() {
        int[] free = new int[stalledSince.length];
        for (int key = stalledSince.length - 1; key >= 0; key--) {
            int outer = key + 1 < free.length ? free[key + 1] : Integer.MAX_VALUE;
            free[key] = Math.min(outer, invariants.free(key));
        }
        for (int key = 0; key < free.length; key++) {
            int innermost = key;
            long oldest = waiting.stream()
                    .filter(chain -> chain.block && chain.innermost == innermost && invariants.isReached(chain.member))
                    .mapToLong(Chain::arrivedAt)
                    .min()
                    .orElse(Long.MAX_VALUE);
            if (free[key] <= 0 || oldest == Long.MAX_VALUE) {
                stalledSince[key] = Long.MAX_VALUE;
            } else {
                stalledSince[key] = Math.min(stalledSince[key], time.now());
                invariants.mayStallSince(
                        Math.max(stalledSince[key], oldest), plan.limits.length, "a chain from k" + key);
            }
        }
    }
}
