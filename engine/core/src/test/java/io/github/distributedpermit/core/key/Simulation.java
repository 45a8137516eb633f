package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of the real core against the real step in a simulated world: clock, timers, network and chance all come from
 * the seed, so a run that failed fails again. What must hold is checked after every event, and at the end that every
 * permit is there and nothing is left behind.
 */
final class Simulation {

    private static final long MILLI = Weather.MILLI;
    private static final long TOMBSTONE = 30_000 * MILLI;
    private static final int CALLS_WHILE_LEAVING = 3;
    private static final int HISTORY = Integer.getInteger("permit.simulation.history", 250);

    /** What happened in a run. */
    record Report(long events, long claims, long granted, long refused, long failed, long lost, long cancelled) {
        Report plus(Report other) {
            return new Report(
                    events + other.events,
                    claims + other.claims,
                    granted + other.granted,
                    refused + other.refused,
                    failed + other.failed,
                    lost + other.lost,
                    cancelled + other.cancelled);
        }

        static final Report NOTHING = new Report(0, 0, 0, 0, 0, 0, 0);
    }

    private final SimPlan plan;
    private final boolean traced;
    private final Timeline time = new Timeline();
    private final SimNetwork network;
    private final SimWeather weather;
    private final List<SimMember> members = new ArrayList<>();
    private final SimInvariants invariants;
    private final SimChains chains;
    private final Deque<String> history = new ArrayDeque<>();
    private boolean open = true;
    private long progressAt;
    private long deafUntil;
    private long calls;
    private long granted;
    private long refused;
    private long failed;
    private long lost;
    private long cancelled;

    private Simulation(SimPlan plan, Function<Duration, SimTable> store, boolean traced) {
        this.traced = traced;
        this.plan = plan;
        network = new SimNetwork(time, () -> store.apply(Duration.ofNanos(TOMBSTONE)));
        weather = new SimWeather(plan, time);
        network.weather = weather;
        invariants = new SimInvariants(plan, network, weather, members);
        network.server.inspector = (key, table, claimer, claim, out) -> {
            trace(() -> "  store: " + claimer + " " + claim + " -> " + out);
            invariants.stepped(key, table, claimer, claim, out);
        };
        network.tap = traced ? new Tracer() : invariants;
        chains = new SimChains(plan, time, invariants, new OfChains());
    }

    /** Runs a seed; throws what it finds, with the seed and what happened before. */
    static Report run(long seed) {
        return run(seed, SimPlan.Series.PLAIN);
    }

    /** The same with members that state different limits for the same keys. */
    static Report runMixed(long seed) {
        return run(seed, SimPlan.Series.MEMBERS_DIFFER);
    }

    /** The same with calls that state different limits for the same keys. */
    static Report runWithLimitsOfCalls(long seed) {
        return run(seed, SimPlan.Series.CALLS_DIFFER);
    }

    /** The same with calls of several groups. */
    static Report runWithGroups(long seed) {
        return run(seed, SimPlan.Series.GROUPS);
    }

    /** The same with calls that take permits of several keys, which lie within each other. */
    static Report runWithChains(long seed) {
        return run(seed, SimPlan.Series.CHAINS);
    }

    private static Report run(long seed, SimPlan.Series series) {
        Function<Duration, SimTable> store = tombstone -> new TwinTable(tombstone, null);
        try {
            return new Simulation(new SimPlan(seed, series), store, false).run();
        } catch (AssertionError | RuntimeException e) {
            Simulation again = new Simulation(new SimPlan(seed, series), store, true);
            try {
                again.run();
            } catch (AssertionError | RuntimeException same) {
                throw new AssertionError(
                        again.plan + "\n" + String.join("\n", again.history) + "\n" + same.getMessage(), same);
            }
            throw new AssertionError(again.plan + "\nfailed only once, so something is not deterministic", e);
        }
    }

    /**
     * What a run finds; {@code null} for nothing. For planted mistakes, whose classes are loaded by another loader.
     *
     * @param mistake of the store, by name; empty for none
     */
    static @Nullable String findingOf(long seed, String mistake) {
        try {
            Function<Duration, SimTable> store = mistake.isEmpty()
                    ? tombstone -> new TwinTable(tombstone, null)
                    : tombstone -> new ModelTable(tombstone, ModelTable.Mistake.valueOf(mistake));
            new Simulation(new SimPlan(seed), store, false).run();
            return null;
        } catch (AssertionError | RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** The same for mistakes with chains. */
    static @Nullable String findingOfChains(long seed, String none) {
        try {
            runWithChains(seed);
            return null;
        } catch (AssertionError | RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Whether a run tells the real step from a store that makes this mistake; {@code null} if not. */
    static @Nullable String differenceOf(long seed, ModelTable.Mistake mistake) {
        try {
            SimPlan plan = new SimPlan(seed);
            new Simulation(plan, tombstone -> new TwinTable(tombstone, mistake), false).run();
            return null;
        } catch (AssertionError | RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private Report run() {
        for (int i = 0; i < plan.members; i++) {
            join();
        }
        planFaults();
        planDeafness();
        runTo(Math.max(plan.duration, deafUntil), () -> false);
        open = false;
        weather.clear();
        for (int key = 0; key < plan.limits.length; key++) {
            override(key, OverrideLimit.empty());
        }
        trace(() -> "--- no more calls and no more faults");
        long patience = 10_000 * MILLI + (plan.endless ? 0 : 4 * plan.lease);
        progressAt = time.now();
        while (!isQuiet()) {
            if (time.now() - progressAt >= patience) {
                throw invariants.violation("these calls do not end: %s", left());
            }
            runTo(progressAt + patience, this::isQuiet);
        }
        runTo(time.now() + 6_000 * MILLI + (plan.endless ? 0 : 3 * plan.lease), () -> false);
        drain();
        runTo(time.now() + TOMBSTONE + 10_000 * MILLI, () -> false);
        checkForResidue();
        long claims = members.stream().mapToLong(m -> m.link.claims.size()).sum();
        return new Report(time.happened(), claims, granted, refused, failed, lost, cancelled);
    }

    private void runTo(long end, java.util.function.BooleanSupplier enough) {
        while (!enough.getAsBoolean() && time.step(end)) {
            invariants.check();
            chains.check();
        }
    }

    private boolean isQuiet() {
        if (!chains.waiting().isEmpty()) {
            return false;
        }
        for (SimMember member : members) {
            if (member.isRunning()) {
                for (int key = 0; key < plan.limits.length; key++) {
                    if (!member.waiting.get(key).isEmpty()
                            || !member.holding.get(key).isEmpty()) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private List<Object> left() {
        List<Object> left = new ArrayList<>(chains.waiting());
        for (SimMember member : members) {
            if (member.isRunning()) {
                member.waiting.forEach(left::addAll);
                member.holding.forEach(left::addAll);
            }
        }
        return left;
    }

    // ---- who takes part

    private SimMember join() {
        String id = "m" + members.size();
        SimMember member = new SimMember(id, plan, network, plan.random.nextLong(1L << 40));
        trace(() -> id + " joins");
        members.add(member);
        invariants.joined(member);
        nextCall(member);
        return member;
    }

    private void nextCall(SimMember member) {
        time.after(plan.around(plan.gap), member.process, () -> {
            if (open && !member.leaving && calls < plan.calls) {
                call(member);
                nextCall(member);
            }
        });
    }

    private void call(SimMember member) {
        int key = plan.random.nextInt(plan.limits.length);
        int weight = plan.weights && plan.chance(0.4) ? 1 + plan.random.nextInt(member.limits[key]) : 1;
        double kind = plan.random.nextDouble();
        boolean block = kind > 0.15;
        long timeout = block && kind < 0.45 ? 1 + plan.around(40 * MILLI) : -1;
        if (plan.chains != null) {
            chain(member, plan.chains, block, timeout);
            return;
        }
        SimCall call = start(member, key, weight, block, timeout);
        if (plan.chance(0.12)) {
            time.after(plan.around(10 * MILLI), member.process, () -> cancel(call));
        }
    }

    private void chain(SimMember member, Random random, boolean block, long timeout) {
        long cancelAfter = plan.chance(0.12) ? plan.around(10 * MILLI) : -1;
        long number = calls++;
        chains.start(
                member,
                random,
                block,
                timeout,
                cancelAfter,
                plan.around(plan.hold),
                (key, permit) ->
                        new SimCall(number, member, key, 1, member.limits[key], null, block, timeout, 0, time.now()),
                number);
    }

    /** What chains need of this run. */
    private final class OfChains implements SimChains.World {
        @Override
        public void holds(SimCall call, Permit permit) {
            call.ended = true;
            call.permit = permit;
            call.member.holding.get(call.key).add(call);
            invariants.granted(call);
            if (permit.isHeld()) {
                permit.onLoss(() -> loss(call));
            } else {
                call.lost = true; // while it waited for the next one
            }
        }

        @Override
        public void release(SimCall call) {
            Simulation.this.release(call);
        }

        @Override
        public void paid(SimMember member, int key) {
            Simulation.paid(member, key);
        }

        @Override
        public void ended(@Nullable Throwable failure) {
            progressAt = time.now();
            granted += failure == null ? 1 : 0;
            refused += failure instanceof PermitRejectedException ? 1 : 0;
            failed += failure instanceof PermitBackendException ? 1 : 0;
            cancelled += failure instanceof CancellationException ? 1 : 0;
        }

        @Override
        public void trace(Supplier<String> line) {
            Simulation.this.trace(line);
        }
    }

    private void startOne(SimMember member, int key) {
        if (plan.chains == null) {
            start(member, key, 1, true, -1);
        } else {
            chain(member, plan.chains, true, -1);
        }
    }

    private SimCall start(SimMember member, int key, int weight, boolean block, long timeout) {
        long headStart = block ? plan.headStart() : 0;
        int limit = plan.ownLimit(weight, member.limits[key]);
        SimCall call =
                new SimCall(calls++, member, key, weight, limit, plan.group(), block, timeout, headStart, time.now());
        call.leastLimit = invariants.limitFor(call);
        trace(() -> call + " comes");
        paid(call);
        member.waiting.get(key).add(call);
        PermitRequest request = PermitRequest.of(SimMember.name(key)).withPermits(weight);
        if (!block) {
            request = request.withoutWaiting();
        } else if (timeout >= 0) {
            request = request.withTimeout(Duration.ofNanos(timeout));
        }
        if (call.group != null) {
            request = request.toBuilder()
                    .fairBy(call.group)
                    .fairWeight(SimPlan.weightOf(call.group))
                    .build();
        }
        if (plan.limitsAreOfCalls()) {
            request = request.toBuilder().limit(limit).build();
        }
        if (headStart > 0) {
            request = request.toBuilder().headStart(Duration.ofNanos(headStart)).build();
        }
        call.future = member.engine.named(SimMember.name(key)).acquireAsync(request);
        call.future.whenComplete((permit, failure) -> ended(call, permit, failure));
        long patience = block ? timeout : plan.commandTimeout;
        boolean waitsOn = !block;
        if (patience >= 0) {
            time.after(
                    patience + 50 * MILLI,
                    member.process,
                    () -> mustHaveEnded(call, waitsOn ? plan.commandTimeout + 50 * MILLI : 50 * MILLI));
        }
        return call;
    }

    /** At its time-out or soon after its process went on; a try then gets a command time-out of its own. */
    private void mustHaveEnded(SimCall call, long afterStop) {
        if (!call.ended && time.now() - call.member.process.stoppedUntil() < afterStop) {
            time.after(afterStop, call.member.process, () -> mustHaveEnded(call, afterStop));
        } else if (!call.ended) {
            throw invariants.violation("%s goes on after its time-out", call);
        }
    }

    private static void paid(SimCall call) {
        paid(call.member, call.key);
    }

    private static void paid(SimMember member, int key) {
        member.claims[key].earn(3);
        member.timers.earn(10);
    }

    private void cancel(SimCall call) {
        if (!call.ended && call.future != null) {
            trace(() -> call + " is cancelled");
            paid(call);
            call.future.cancel(false);
        }
    }

    private void ended(SimCall call, @Nullable Permit permit, @Nullable Throwable failure) {
        call.ended = true;
        progressAt = time.now();
        call.member.waiting.get(call.key).remove(call);
        paid(call);
        trace(() -> call + " ends: " + (permit != null ? permit : failure));
        if (permit != null) {
            granted++;
            call.permit = permit;
            call.member.holding.get(call.key).add(call);
            invariants.granted(call);
            permit.onLoss(() -> loss(call));
            long hold = plan.chance(0.03)
                    ? plan.between(20, plan.endless ? 800 : plan.lease / MILLI * 3 / 2) * MILLI
                    : plan.around(plan.hold);
            time.after(plan.severity == 0 ? plan.around(plan.hold) : hold, call.member.process, () -> release(call));
        } else if (failure instanceof PermitRejectedException rejected) {
            refused++;
            invariants.notGranted(call);
            checkRejection(call, rejected.reason());
        } else if (failure instanceof PermitBackendException) {
            failed++;
            invariants.notGranted(call);
            invariants.storeFailed(call);
            if (plan.severity == 0 && !isTooShort(call)) {
                throw invariants.violation("%s failed with a store that is well: %s", call, failure);
            }
        } else if (failure instanceof CancellationException) {
            cancelled++;
        } else {
            throw invariants.violation("%s ended with %s", call, String.valueOf(failure));
        }
    }

    /** Nothing was ever answered before its time was over, so that nothing was known of the store. */
    private static boolean isTooShort(SimCall call) {
        return call.block && call.timeout >= 0;
    }

    private void checkRejection(SimCall call, Reason reason) {
        long waited = time.now() - call.arrivedAt;
        switch (reason) {
            case LIMIT_REACHED -> {
                if (call.block) {
                    throw invariants.violation("%s is no try", call);
                }
                invariants.refused(call);
            }
            case TIMED_OUT -> {
                if (call.timeout < 0 || waited < call.timeout) {
                    throw invariants.violation("%s timed out after %d ns", call, waited);
                }
            }
            case ABOVE_LIMIT -> {
                if (call.leastLimit >= call.weight) {
                    throw invariants.violation("%s is not above any limit since it came", call);
                }
            }
            case WOULD_TIME_OUT -> {
                if (call.timeout < 0 || !plan.rejectHopeless || !invariants.isAsRecentAsCallbacks(call)) {
                    throw invariants.violation("%s was rejected for its time-out after %d ns", call, waited);
                }
            }
            case QUEUE_FULL -> {
                if (!plan.deferred && call.member.waiting.get(call.key).size() < SimPlan.MOST_WAITERS) {
                    throw invariants.violation("%s was refused by a line that is not full", call);
                }
            }
            case SHUTTING_DOWN -> {
                if (!call.member.leaving) {
                    throw invariants.violation("%s was refused by %s, which is not leaving", call, call.member);
                }
                invariants.refused(call);
            }
            case TOO_MANY_KEYS -> throw invariants.violation("%s ended with %s", call, reason);
        }
    }

    private void loss(SimCall call) {
        if (call.lost) {
            throw invariants.violation("%s was notified of its loss twice", call);
        }
        call.lost = true;
        lost++;
        call.member.claims[call.key].earn(2);
        trace(() -> call + " is lost");
        if (call.permit != null && call.permit.isHeld()) {
            throw invariants.violation("%s is notified of its loss but still held", call);
        }
        invariants.lost(call);
    }

    private void release(SimCall call) {
        trace(() -> call + " releases");
        progressAt = time.now();
        paid(call);
        call.member.holding.get(call.key).remove(call);
        if (call.permit != null) {
            call.permit.release();
        }
    }

    // ---- what goes wrong

    private void planFaults() {
        if (plan.overrides) {
            for (int i = plan.random.nextInt(8); i >= 0; i--) {
                int key = plan.random.nextInt(plan.limits.length);
                OverrideLimit limit =
                        plan.chance(0.4) ? OverrideLimit.empty() : OverrideLimit.of(plan.random.nextInt(5));
                time.after(plan.random.nextLong(plan.duration), null, () -> override(key, limit));
            }
        }
        if (plan.severity == 0) {
            return;
        }
        double often = plan.severity == 1 ? 0.3 : 0.6;
        if (plan.chance(often)) {
            long length = plan.random.nextLong(plan.endless ? 2_000 * MILLI : plan.lease * 3 / 2);
            boolean refuses = plan.chance(0.5);
            time.after(plan.random.nextLong(plan.duration), null, () -> {
                trace(() -> "--- the store is away, " + (refuses ? "refusing" : "silent"));
                weather.outage(refuses);
            });
            time.after(plan.random.nextLong(plan.duration) + length, null, () -> {
                trace(() -> "--- the store is back");
                weather.outageEnds();
            });
        }
        // a claim doubled before and arriving after makes a record that no member knows of, which then lasts for one
        // lease
        if (!plan.endless && plan.chance(often / 2)) {
            time.after(plan.random.nextLong(plan.duration), null, this::empty);
        }
        for (SimMember member : List.copyOf(members)) {
            if (plan.chance(often)) {
                long length = plan.random.nextLong(plan.endless ? 1_000 * MILLI : plan.lease * 2);
                time.after(plan.random.nextLong(plan.duration), member.process, () -> {
                    trace(() -> "--- " + member + " is stopped for " + length / MILLI + " ms");
                    member.process.stop(length);
                });
            }
            if (!plan.endless && plan.chance(often / 2)) {
                boolean politely = plan.chance(0.4);
                // a process that is stopped can be killed, but it cannot leave before it goes on
                SimProcess by = politely ? member.process : null;
                time.after(plan.random.nextLong(plan.duration), by, () -> end(member, politely));
            }
        }
    }

    /** All that one member sends arrives, and nothing comes back to it for many leases, while it and others wait. */
    private void planDeafness() {
        if (plan.deafLeases == 0) {
            return;
        }
        SimMember deaf = members.get(plan.later.nextInt(members.size()));
        long from = plan.later.nextLong(plan.duration);
        deafUntil = from + plan.deafLeases * plan.lease;
        time.after(from, null, () -> {
            trace(() -> "--- nothing reaches " + deaf + " any more");
            weather.trouble(time.now());
            deaf.link.deaf = true;
        });
        time.after(deafUntil, null, () -> {
            trace(() -> "--- " + deaf + " is reached again");
            weather.trouble(time.now());
            deaf.link.deaf = false;
        });
        for (long at = from; at < deafUntil; at += plan.lease / 2) {
            int key = plan.later.nextInt(plan.limits.length);
            time.after(at, deaf.process, () -> startUnlessLeaving(deaf, key));
            SimMember other = members.get(plan.later.nextInt(members.size()));
            time.after(at, other.process, () -> startUnlessLeaving(other, key));
        }
    }

    private void startUnlessLeaving(SimMember member, int key) {
        if (!member.leaving) {
            startOne(member, key);
        }
    }

    private void override(int key, OverrideLimit limit) {
        trace(() -> "--- the limit of " + SimMember.name(key) + " is overridden: " + limit);
        invariants.overridden(key, limit);
        network.server.override(SimMember.name(key), limit);
    }

    private void empty() {
        trace(() -> "--- the store is emptied");
        weather.trouble(time.now());
        network.server.empty();
        invariants.emptied();
    }

    private void end(SimMember member, boolean politely) {
        if (!member.isRunning()) {
            return;
        }
        weather.trouble(time.now() + plan.lease);
        if (politely) {
            trace(() -> "--- " + member + " leaves");
            member.leaving = true;
            for (int i = 0; i < CALLS_WHILE_LEAVING; i++) {
                int key = plan.later.nextInt(plan.limits.length);
                time.after(plan.later.nextLong(plan.lease / 10), member.process, () -> startOne(member, key));
            }
            member.engine.shutdown().whenComplete((ok, failure) -> {
                trace(() -> "--- " + member + " has left");
                if (member.holding.stream().anyMatch(h -> h.stream().anyMatch(SimCall::isHeld))) {
                    throw invariants.violation("%s has left although it holds", member);
                }
                member.process.kill();
            });
        } else {
            trace(() -> "--- " + member + " is killed");
            member.process.kill();
        }
        if (plan.chance(0.7)) {
            join();
        }
    }

    // ---- the end

    /** As many permits as the limit says are there, and not one more. */
    private void drain() {
        SimMember member = null;
        for (SimMember candidate : members) {
            if (candidate.isRunning() && !candidate.leaving) {
                member = candidate;
            }
        }
        if (member == null) {
            open = false;
            member = join();
        }
        for (int key = 0; key < plan.limits.length; key++) {
            List<SimCall> taken = new ArrayList<>();
            for (int i = 0; i < member.limits[key]; i++) {
                SimCall call = tryOne(member, key);
                if (call.permit == null) {
                    throw invariants.violation(
                            "permit %d of %d of k%d is missing; the store has %s",
                            i + 1, member.limits[key], key, rows(key));
                }
                taken.add(call);
            }
            SimCall oneMore = tryOne(member, key);
            if (oneMore.permit != null) {
                throw invariants.violation("there are more than %d permits of k%d", member.limits[key], key);
            }
            taken.forEach(this::release);
        }
    }

    private List<SimTable.Row> rows(int key) {
        List<SimTable.Row> rows = new ArrayList<>();
        SimTable table = network.server.find(SimMember.name(key));
        if (table != null) {
            table.rows().forEach(rows::add);
        }
        return rows;
    }

    /** Holds what it gets until it is released by hand. */
    private SimCall tryOne(SimMember member, int key) {
        SimCall call = new SimCall(calls++, member, key, 1, member.limits[key], null, false, -1, 0, time.now());
        trace(() -> call + " tries");
        paid(call);
        call.future = member.engine
                .named(SimMember.name(key))
                .alone(null)
                .acquireAsync(PermitRequest.builder(SimMember.name(key))
                        .withoutWaiting()
                        .limit(member.limits[key])
                        .build());
        call.future.whenComplete((permit, failure) -> {
            call.ended = true;
            call.permit = permit;
            if (permit != null) {
                member.holding.get(key).add(call);
                invariants.granted(call);
            }
        });
        runTo(time.now() + plan.commandTimeout + 1, () -> call.ended);
        return call;
    }

    private void checkForResidue() {
        for (SimMember member : members) {
            if (!member.isRunning()) {
                continue;
            }
            if (member.engine.keys() > 0) {
                throw invariants.violation("%s still has %d keys in memory", member, member.engine.keys());
            }
            for (int key = 0; key < plan.limits.length; key++) {
                PermitName permit = Peek.permit(member.engine, SimMember.name(key));
                if (permit.counts.holders() != 0 || permit.counts.waiters() != 0) {
                    throw invariants.violation(
                            "%s counts %d holders and %d waiters of k%d at rest",
                            member, permit.counts.holders(), permit.counts.waiters(), key);
                }
            }
        }
        for (int key = 0; key < plan.limits.length; key++) {
            network.server.refresh(SimMember.name(key));
            if (network.server.find(SimMember.name(key)) != null) {
                throw invariants.violation("the store still has %s", rows(key));
            }
        }
        if (time.pending() > 0) {
            throw invariants.violation("%d timers are left", time.pending());
        }
    }

    private void trace(java.util.function.Supplier<String> line) {
        if (traced) {
            history.add("%12.3f %s".formatted(time.now() / 1e6, line.get()));
            if (history.size() > HISTORY) {
                history.removeFirst();
            }
        }
    }

    /** Writes down what the network does, too. */
    private final class Tracer implements SimNetwork.Tap {
        @Override
        public void sent(SimLink link, io.github.distributedpermit.spi.Claim claim) {
            trace(() -> "  " + link.member + " sends " + claim);
            invariants.sent(link, claim);
        }

        @Override
        public void delivered(SimLink link, String key, io.github.distributedpermit.spi.Holding holding, long answers) {
            trace(() -> "  " + link.member + (answers == SimNetwork.PUSHED ? " is notified of " : " receives ") + key
                    + " " + holding);
            invariants.delivered(link, key, holding, answers);
        }

        @Override
        public void failed(SimLink link, io.github.distributedpermit.spi.Claim claim, Throwable cause) {
            trace(() -> "  " + link.member + " hears that claim " + claim.sequence() + " failed: " + cause);
            invariants.failed(link, claim, cause);
        }
    }
}
