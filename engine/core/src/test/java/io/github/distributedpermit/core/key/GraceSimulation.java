package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitToken;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.step.ServerIdentity;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of the real core and the real step with servers that lose state: replicas that lag are promoted, servers restart
 * without data, are emptied, freeze, or hand their keys over. What must hold is that valid holders never exceed the limit, that
 * tokens rise, that every call ends, and that afterwards every permit is there.
 */
final class GraceSimulation {

    /** What becomes of the servers. */
    enum Fault {
        NOTHING(false),
        /** A replica that lags is promoted. */
        FAIL_OVER(true),
        /** Likewise, where calls are few and hold for long, so that a key may see nothing but renewals for a lease. */
        QUIET_FAIL_OVER(true),
        /** Two of them within a lease. */
        TWO_FAIL_OVERS(true),
        /** The first server is promoted again, with what it had when it stopped or with what it has copied since. */
        AND_BACK(true),
        RESTART_WITHOUT_DATA(true),
        FLUSHED(true),
        /** The clock is set back by up to a minute, in most runs within a lease after the server was emptied. */
        CLOCK_SET_BACK(true),
        /** The master freezes, is replaced, and goes on with what it was sent. */
        FROZEN(true),
        /** Likewise, and when it goes on it is chosen again, before it has followed the other one: its epoch is the same. */
        CHOSEN_AGAIN(true),
        /**
         * Replicas and Sentinels can't reach the master, which goes on, while some members reach only it. Members wait for a
         * replica: without that, the limit is exceeded for as long as this lasts.
         */
        CUT_OFF(true),
        /** The keys move to another server of a cluster that serves on. */
        MIGRATION(false),
        /** The epoch changes with the first replica, and nothing is lost. */
        FIRST_REPLICA(false),
        /** The server does not answer for a while. */
        STALLED(false),
        /** Nothing passes between some members and the server for a while; then all of it arrives. */
        HELD_BACK(false);

        final boolean loses;

        Fault(boolean loses) {
            this.loses = loses;
        }
    }

    /** What else differs from the usual run. */
    enum Twist {
        NONE,
        /** Members state different leases, and one may be replaced by one with another lease, as in a rolling update. */
        MIXED_LEASES,
        /** The clock of a promoted server shows at its first claim what that of the former master showed just after its last check. */
        CLOCK_BEHIND
    }

    private static final long MILLI = Weather.MILLI;
    private static final long SECOND = 1_000 * MILLI;
    private static final long LEASE = 15 * SECOND;
    private static final long[] LEASES = {6 * SECOND, LEASE, 30 * SECOND};
    private static final long END = 60 * SECOND;
    private static final int MOST_WAITING = 4;
    private static final int HISTORY = Integer.getInteger("permit.simulation.history", 300);

    /**
     * What happened.
     *
     * @param exceeded whether a former master that had stood still exceeded the limit: it may serve a waiting member that reaches
     *     only it, until another member closes it
     */
    record Report(long granted, long lost, long failed, long refused, long graces, long exceeded) {
        Report plus(Report other) {
            return new Report(
                    granted + other.granted,
                    lost + other.lost,
                    failed + other.failed,
                    refused + other.refused,
                    graces + other.graces,
                    exceeded + other.exceeded);
        }

        static final Report NOTHING = new Report(0, 0, 0, 0, 0, 0);
    }

    final Timeline time = new Timeline();
    final double doubled;
    private final SplittableRandom random;
    private final Fault fault;
    private final Twist twist;
    /** For the twist, so that the run is the same otherwise. */
    private final SplittableRandom twists;

    private final boolean traced;
    private final double lossy;
    private final double late;
    private final int[] limits;
    private final boolean limitsDiffer;
    private final boolean weights;
    private final boolean overrides;
    private final long hold;
    private final long gap;
    private final int[] ceiling;
    private final List<Player> players = new ArrayList<>();
    private final List<NavigableSet<PermitToken>> tokens = new ArrayList<>();
    private final Map<GraceNode, List<Runnable>> frozen = new HashMap<>();
    private final Deque<String> history = new ArrayDeque<>();
    private GraceNode master;
    private int nodes;
    private long votes;
    private boolean open = true;
    private boolean fair;
    private long granted;
    private long lost;
    private long failed;
    private long refused;
    private long graces;
    private boolean exceeded;
    /** Of the servers that have granted a permit, in microseconds. */
    private long foremostClock = Long.MIN_VALUE;

    private boolean clocksAgree = true;
    private @Nullable AssertionError violation;

    /** One instance. */
    private final class Player {
        final SimProcess process;
        final PermitEngine engine;
        final int[] limit;
        final List<List<Call>> holding = new ArrayList<>();
        int waiting;

        @Nullable
        GraceLink link;

        Player(String id) {
            process = new SimProcess(id, time, random.nextLong(1L << 40));
            limit = new int[limits.length];
            Map<String, PermitSettings> named = new HashMap<>();
            for (int key = 0; key < limits.length; key++) {
                limit[key] = limitsDiffer ? Math.max(1, limits[key] - random.nextInt(2)) : limits[key];
                named.put("k" + key, PermitSettings.ofLimit(limit[key]));
                holding.add(new ArrayList<>());
            }
            CoreSettings settings = CoreSettings.DEFAULTS.toBuilder()
                    .lease(Duration.ofNanos(
                            twist == Twist.MIXED_LEASES ? LEASES[twists.nextInt(LEASES.length)] : LEASE))
                    .permits(PermitSettings.builder()
                            .storeTimeout(Duration.ofSeconds(30))
                            .linger(chance(0.3) ? Duration.ofMillis(5) : Duration.ZERO)
                            .build())
                    .build();
            engine = new PermitEngine(
                    new PermitBackend() {
                        @Override
                        public String name() {
                            return "simulated";
                        }

                        @Override
                        public GraceLink join(Member member, HoldingListener listener) {
                            GraceLink made = new GraceLink(GraceSimulation.this, id, process, listener, master);
                            link = made;
                            return made;
                        }
                    },
                    new Member(id, id),
                    settings,
                    PermitSettings.NONE,
                    named,
                    new CoreEnvironment(
                            process::clock, process, Runnable::run, Runnable::run, random::nextDouble, Observers.NONE));
        }

        GraceLink link() {
            GraceLink made = link;
            if (made == null) {
                throw new AssertionError("not joined");
            }
            return made;
        }
    }

    /** A call and its permit. */
    private static final class Call {
        final int weight;

        @Nullable
        Permit permit;

        Call(int weight) {
            this.weight = weight;
        }

        boolean isHeld() {
            return permit != null && permit.isHeld();
        }
    }

    private GraceSimulation(Fault fault, Twist twist, long seed, boolean traced) {
        this.fault = fault;
        this.twist = twist;
        this.traced = traced;
        random = new SplittableRandom(seed * 1_000 + fault.ordinal());
        twists = new SplittableRandom(~(seed * 1_000 + fault.ordinal()));
        boolean quiet = fault == Fault.QUIET_FAIL_OVER;
        limits = new int[quiet ? 2 : 1 + random.nextInt(2)];
        ceiling = new int[limits.length];
        for (int key = 0; key < limits.length; key++) {
            limits[key] = 1 + random.nextInt(quiet ? 2 : 5);
            ceiling[key] = limits[key];
            tokens.add(new TreeSet<>());
        }
        limitsDiffer = chance(0.2);
        weights = chance(0.3);
        overrides = chance(0.25);
        double worse = random.nextDouble();
        lossy = worse < 0.4 ? 0 : worse < 0.8 ? 0.01 : 0.05;
        doubled = worse < 0.4 ? 0 : 0.03;
        late = worse < 0.8 ? 0 : 0.01;
        boolean sparse = quiet || chance(0.2);
        hold = quiet
                ? 16_000 + random.nextLong(16_000)
                : sparse ? 8_000 + random.nextLong(25_000) : 200 + random.nextLong(12_000);
        gap = sparse ? (quiet ? 8_000 : 4_000) + random.nextLong(16_000) : 200 + random.nextLong(4_000);
        master = new GraceNode(time, "s0", identity("run0", "s0", false, -3_600), offset(), newServerGrace());
        master.lag = waits() ? random.nextLong(400 * MILLI) : 0;
        nodes = 1;
    }

    /** Whether members wait for a replica. */
    boolean waits() {
        return fault == Fault.CUT_OFF;
    }

    private static long newServerGrace() {
        return 3_000_000;
    }

    private long offset() {
        return chance(0.5) ? 0 : random.nextLong(200_000_000L) - 100_000_000L;
    }

    private ServerIdentity identity(String run, String node, boolean promoted, long startedSeconds) {
        return GraceNode.identity(
                1 + random.nextLong((1L << 32) - 1),
                run,
                node,
                promoted,
                1_000_000_000_000L + (time.now() / 1_000) + startedSeconds * 1_000_000);
    }

    static Report run(Fault fault, Twist twist, long seed) {
        try {
            return new GraceSimulation(fault, twist, seed, false).run();
        } catch (AssertionError | RuntimeException e) {
            GraceSimulation again = new GraceSimulation(fault, twist, seed, true);
            String which = fault + " " + twist + " seed " + seed;
            try {
                again.run();
            } catch (AssertionError | RuntimeException same) {
                throw new AssertionError(
                        which + "\n" + String.join("\n", again.history) + "\n" + same.getMessage(), same);
            }
            throw new AssertionError(which + " failed only once", e);
        }
    }

    /** @param setting the name of the fault, and behind a slash that of the twist if there is one */
    private static GraceSimulation of(long seed, String setting) {
        String[] names = setting.split("/", 2);
        Twist twist = names.length == 1 ? Twist.NONE : Twist.valueOf(names[1]);
        return new GraceSimulation(Fault.valueOf(names[0]), twist, seed, false);
    }

    /** What a run finds; {@code null} for nothing. For mutants, whose classes are loaded by another loader. */
    static @Nullable String findingOf(long seed, String setting) {
        try {
            of(seed, setting).run();
            return null;
        } catch (AssertionError | RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** How many permits a run loses. */
    static long lossesOf(long seed, String setting) {
        return of(seed, setting).run().lost();
    }

    /** The server that is the master at the moment. */
    GraceNode master() {
        return master;
    }

    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /** How long a message takes; negative if it never arrives. */
    long delay() {
        if (!fair && lossy > 0 && chance(lossy)) {
            return -1;
        }
        if (!fair && late > 0 && chance(late)) {
            return random.nextLong(20 * SECOND);
        }
        return MILLI / 10 + random.nextLong(4 * MILLI);
    }

    private Report run() {
        int members = 2 + random.nextInt(4);
        for (int i = 0; i < members; i++) {
            join();
        }
        planFault();
        if (overrides) {
            for (int i = 1 + random.nextInt(4); i > 0; i--) {
                int key = random.nextInt(limits.length);
                OverrideLimit limit = chance(0.4) ? OverrideLimit.empty() : OverrideLimit.of(random.nextInt(6));
                ceilingOf(key, limit);
                time.after(random.nextLong(END), null, () -> override(key, limit));
            }
        }
        if (chance(0.4)) {
            Player stopped = players.get(random.nextInt(players.size()));
            time.after(
                    random.nextLong(40 * SECOND),
                    stopped.process,
                    () -> stopped.process.stop(random.nextLong(25 * SECOND)));
        }
        if (chance(0.4) && !fault.loses) {
            time.after(random.nextLong(40 * SECOND), null, this::replaceOne);
        }
        if (twist == Twist.MIXED_LEASES && !fault.loses) {
            time.after(twists.nextLong(40 * SECOND), null, this::replaceOne);
        }
        if (chance(0.3)) {
            holdBack(players.get(random.nextInt(players.size())));
        }
        runTo(END);
        if (exceeded) {
            return report();
        }
        open = false;
        fair = true;
        for (int key = 0; key < limits.length; key++) {
            override(key, OverrideLimit.empty());
        }
        for (long end = END + 30 * SECOND; end < END + 1_000 * SECOND && isBusy(); end += 10 * SECOND) {
            runTo(end);
        }
        runTo(time.now() + 60 * SECOND);
        for (Player player : players) {
            if (!player.process.isDead() && player.waiting > 0) {
                throw found("%s: %d calls do not end", player.process, player.waiting);
            }
        }
        drain();
        if (graces > 0 && !fault.loses) {
            throw found("grace, but nothing was lost");
        }
        return report();
    }

    private Report report() {
        return new Report(granted, lost, failed, refused, graces, exceeded ? 1 : 0);
    }

    private boolean isBusy() {
        for (Player player : players) {
            if (!player.process.isDead()
                    && (player.waiting > 0 || !player.holding.stream().allMatch(List::isEmpty))) {
                return true;
            }
        }
        return false;
    }

    private void runTo(long end) {
        while (time.step(end)) {
            if (violation != null) {
                throw violation;
            }
            if (time.atThisInstant() > 5_000) {
                throw found("storm");
            }
            for (int key = 0; key < limits.length; key++) {
                int valid = 0;
                for (Player player : players) {
                    if (!player.process.isDead()) {
                        for (Call call : player.holding.get(key)) {
                            valid += call.isHeld() ? call.weight : 0;
                        }
                    }
                }
                if (valid > ceiling[key] && isByFormerMaster(key)) {
                    exceeded = true;
                    return;
                }
                if (valid > ceiling[key]) {
                    throw found("%d permits of k%d are held validly, the limit is %d", valid, key, ceiling[key]);
                }
            }
        }
    }

    private boolean isByFormerMaster(int key) {
        boolean stoodStill = fault == Fault.FROZEN || fault == Fault.CHOSEN_AGAIN;
        return stoodStill
                && players.stream()
                        .filter(player -> player.link().node != master)
                        .anyMatch(player -> player.holding.get(key).stream().anyMatch(Call::isHeld));
    }

    private AssertionError found(String text, Object... arguments) {
        AssertionError error = new AssertionError(text.formatted(arguments));
        if (violation == null) {
            violation = error;
        }
        trace(() -> "!!! " + error.getMessage());
        return error;
    }

    // ---- members and calls

    private Player join() {
        Player player = new Player("m" + players.size());
        trace(() -> player.process + " joins, limits " + java.util.Arrays.toString(player.limit));
        players.add(player);
        if (open) {
            call(player); // so that every member remembers the server: one that does not may be the first to claim
            // after a loss
        }
        nextCall(player);
        return player;
    }

    private void replaceOne() {
        Player player = players.get(random.nextInt(players.size()));
        trace(() -> player.process + " is killed");
        player.process.kill();
        join();
    }

    private void nextCall(Player player) {
        time.after(random.nextLong(2 * gap) * MILLI, player.process, () -> {
            if (open) {
                if (player.waiting < MOST_WAITING) {
                    call(player);
                }
                nextCall(player);
            }
        });
    }

    private void call(Player player) {
        int key = random.nextInt(limits.length);
        int weight = weights && chance(0.4) ? 1 + random.nextInt(player.limit[key]) : 1;
        PermitRequest request = PermitRequest.of("k" + key).withPermits(weight);
        double kind = random.nextDouble();
        if (kind < 0.15) {
            request = request.withoutWaiting();
        } else if (kind < 0.5) {
            request = request.withTimeout(Duration.ofMillis(random.nextLong(20_000)));
        }
        Call call = new Call(weight);
        player.waiting++;
        player.engine.named("k" + key).acquireAsync(request).whenComplete((permit, failure) -> {
            player.waiting--;
            if (permit != null) {
                held(player, key, call, permit);
            } else if (failure instanceof PermitBackendException) {
                failed++;
            } else if (failure instanceof PermitRejectedException || failure instanceof CancellationException) {
                refused++;
            } else {
                throw found("ended with %s", String.valueOf(failure));
            }
        });
    }

    private void held(Player player, int key, Call call, Permit permit) {
        granted++;
        call.permit = permit;
        player.holding.get(key).add(call);
        trace(() -> player.process + " holds " + call.weight + " of k" + key + " by " + permit.token());
        checkToken(key, permit.token(), player.link().node);
        permit.onLoss(() -> {
            lost++;
            trace(() -> player.process + " has lost " + call.weight + " of k" + key);
        });
        time.after(random.nextLong(2 * hold) * MILLI, player.process, () -> {
            trace(() -> player.process + " releases " + call.weight + " of k" + key);
            player.holding.get(key).remove(call);
            permit.release();
        });
    }

    /** Tokens follow the clocks of the servers, which have to differ by less than a lease. */
    private void checkToken(int key, PermitToken token, GraceNode from) {
        foremostClock = Math.max(foremostClock, from.clockOffset());
        long shortest = twist == Twist.MIXED_LEASES ? LEASES[0] : LEASE;
        clocksAgree =
                clocksAgree && fault != Fault.CLOCK_SET_BACK && foremostClock - from.clockOffset() < shortest / 1_000;
        if (!clocksAgree) {
            return;
        }
        if (!tokens.get(key).add(token)) {
            throw found("token %s was given before", token);
        }
        if (ceiling[key] == 1 && tokens.get(key).last() != token) {
            throw found("token %s follows token %s", token, tokens.get(key).last());
        }
    }

    // ---- the store

    @Nullable
    Holding claim(GraceNode at, String member, Claim claim, long knownLease) {
        Optional<Step> step = at.claim(member, claim, knownLease);
        trace(() -> "  " + at.name() + ": " + member + " " + claim + " -> "
                + step.map(s -> s.answer() + " serves " + s.served()).orElse("closed"));
        step.ifPresent(s -> pushAll(at, claim.key(), s));
        graces += step.flatMap(Step::answer)
                        .map(holding -> holding.others().grace())
                        .orElse(false)
                ? 1
                : 0;
        return step.flatMap(Step::answer).orElse(null);
    }

    private void pushAll(GraceNode from, String key, Step step) {
        step.served().forEach((member, holding) -> {
            for (Player player : players) {
                if (player.process.id.equals(member)) {
                    player.link().push(from, key, holding);
                }
            }
        });
    }

    private void ceilingOf(int key, OverrideLimit limit) {
        ceiling[key] = Math.max(ceiling[key], limit.orElse(0));
    }

    private void override(int key, OverrideLimit limit) {
        if (!master.silent) {
            trace(() -> "override of k" + key + ": " + limit);
            pushAll(master, "k" + key, master.override("k" + key, limit));
        }
    }

    void atThaw(GraceNode node, Runnable arrival) {
        List<Runnable> later = frozen.get(node);
        if (later != null) {
            later.add(arrival);
        }
    }

    // ---- faults

    private void planFault() {
        long at = 8 * SECOND + random.nextLong(15 * SECOND);
        switch (fault) {
            case NOTHING -> {}
            case FAIL_OVER, QUIET_FAIL_OVER -> time.after(at, null, () -> failOver(null));
            case TWO_FAIL_OVERS -> {
                time.after(at, null, () -> failOver(null));
                time.after(at + 6 * SECOND + random.nextLong(LEASE), null, () -> failOver(null));
            }
            case AND_BACK -> {
                GraceNode first = master;
                time.after(at, null, () -> failOver(null));
                time.after(at + 6 * SECOND + random.nextLong(LEASE), null, () -> failOver(first));
            }
            case RESTART_WITHOUT_DATA -> time.after(at, null, this::restart);
            case FLUSHED ->
                time.after(at, null, () -> {
                    trace(() -> "--- flushed");
                    master.flush();
                });
            case CLOCK_SET_BACK -> {
                if (chance(0.7)) {
                    time.after(at, null, () -> {
                        trace(() -> "--- flushed");
                        master.flush();
                    });
                }
                time.after(at + random.nextLong(LEASE), null, () -> {
                    trace(() -> "--- clock is set back");
                    master.setClockBack(random.nextLong(60 * SECOND) / 1_000);
                });
            }
            case FROZEN ->
                time.after(at, null, () -> {
                    GraceNode old = master;
                    frozen.put(old, new ArrayList<>());
                    freeze();
                    time.after(8 * SECOND + random.nextLong(20 * SECOND), null, () -> {
                        trace(() -> "--- " + old.name() + " goes on");
                        thaw(old);
                    });
                });
            case CHOSEN_AGAIN ->
                time.after(at, null, () -> {
                    GraceNode first = master;
                    frozen.put(first, new ArrayList<>());
                    freeze();
                    time.after(6 * SECOND + random.nextLong(LEASE), null, () -> chooseAgain(first));
                });
            case HELD_BACK -> {
                for (Player player : players) {
                    holdBack(player);
                    holdBack(player);
                }
            }
            case CUT_OFF -> time.after(at, null, this::cutOff);
            case MIGRATION -> time.after(at, null, this::migrate);
            case FIRST_REPLICA -> {
                time.after(at, null, this::firstReplica);
                time.after(at + random.nextLong(20 * SECOND), null, this::firstReplica);
            }
            case STALLED ->
                time.after(at, null, () -> {
                    GraceNode old = master;
                    trace(() -> "--- stalled");
                    frozen.put(old, new ArrayList<>());
                    old.silent = true;
                    time.after(random.nextLong(20 * SECOND), null, () -> {
                        trace(() -> "--- goes on");
                        thaw(old);
                    });
                });
        }
    }

    private void down() {
        master.silent = true;
        for (Player player : players) {
            if (chance(0.7)) {
                time.after(
                        random.nextLong(SECOND),
                        player.process,
                        () -> player.link().disconnect());
            }
        }
    }

    /** The members reconnect, each a little later, and some clients repeat what was not answered. */
    private void moveTo(GraceNode next) {
        move(players, next);
    }

    private void move(List<Player> moving, GraceNode next) {
        master = next;
        long vote = ++votes;
        for (Player player : moving) {
            boolean repeats = chance(0.3);
            long away = chance(0.2) ? LEASE : chance(0.2) ? 2 * SECOND : 100 * MILLI;
            time.after(random.nextLong(away), player.process, () -> {
                trace(() -> player.process + " connects to " + next.name() + (repeats ? ", and repeats" : ""));
                player.link().reconnect(next, repeats, vote);
            });
        }
    }

    /**
     * The master goes on without its replicas, one of which takes its place. Some members reach only the one, some only the
     * other, and in half of the runs some reach both, and close the former.
     */
    private void cutOff() {
        GraceNode old = master;
        trace(() -> "--- " + old.name() + " is cut off");
        old.cutOff();
        List<Player> apart = players.stream().filter(player -> chance(0.5)).toList();
        boolean closed = chance(0.5);
        time.after(500 * MILLI + random.nextLong(5 * SECOND), null, () -> {
            String name = "s" + nodes++;
            GraceNode next =
                    new GraceNode(time, name, identity("run" + name, name, true, -3_600), offset(), newServerGrace());
            next.copy(old, old.copiedUntil());
            next.lag = old.lag;
            putBehind(next);
            trace(() -> "--- " + name + " is promoted, epoch " + next.identity.epoch());
            List<Player> moving = new ArrayList<>(players);
            moving.removeAll(apart);
            if (!closed) {
                moving.forEach(player -> player.link().disconnect());
            }
            move(moving, next);
            time.after(random.nextLong(45 * SECOND), null, () -> {
                trace(() -> "--- " + old.name() + " is demoted");
                old.silent = true;
                apart.forEach(player -> player.link().disconnect());
                move(apart, next);
            });
        });
    }

    /** The master stands still, with all its connections, and a replica that lags takes its place. */
    private void freeze() {
        trace(() -> "--- " + master.name() + " stands still");
        master.silent = true;
        replace(master, null);
    }

    /** A frozen master goes on, executes what it was sent, and takes the place of the one that had taken its place. */
    private void chooseAgain(GraceNode first) {
        trace(() -> "--- " + first.name() + " goes on and is chosen again");
        down();
        thaw(first);
        moveTo(first);
    }

    private void thaw(GraceNode node) {
        List<Runnable> arrivals = frozen.remove(node);
        node.silent = false;
        if (arrivals != null) {
            arrivals.forEach(Runnable::run);
        }
    }

    private void holdBack(Player player) {
        long length = random.nextLong(20 * SECOND);
        time.after(random.nextLong(40 * SECOND), null, () -> {
            trace(() -> "--- nothing passes to or from " + player.process + " for " + length / MILLI + " ms");
            player.link().stall(length);
        });
    }

    private void failOver(@Nullable GraceNode back) {
        down();
        replace(master, back);
    }

    private void replace(GraceNode old, @Nullable GraceNode back) {
        long lag = chance(0.1) ? time.now() : random.nextLong(10 * SECOND);
        long until = time.now() - lag;
        trace(() -> "--- " + old.name() + " is replaced by a replica that lags by " + lag / MILLI + " ms");
        time.after(500 * MILLI + random.nextLong(5 * SECOND), null, () -> {
            GraceNode next;
            if (back == null) {
                String name = "s" + nodes++;
                next = new GraceNode(
                        time, name, identity("run" + name, name, true, -3_600), offset(), newServerGrace());
                next.copy(old, until);
                putBehind(next);
            } else {
                next = back;
                next.silent = false;
                next.identity = identity(back.identity.run(), back.name(), true, -3_600);
                if (chance(0.5)) {
                    next.copy(old, until);
                }
            }
            trace(() -> "--- " + next.name() + " is promoted, epoch " + next.identity.epoch());
            moveTo(next);
        });
    }

    private void putBehind(GraceNode next) {
        if (twist == Twist.CLOCK_BEHIND) {
            next.putBehind();
        }
    }

    private void restart() {
        GraceNode old = master;
        down();
        time.after(100 * MILLI + random.nextLong(5 * SECOND), null, () -> {
            String name = old.name();
            long offset = offset();
            ServerIdentity started = identity("run" + nodes++, name, false, offset / 1_000_000);
            GraceNode next = new GraceNode(time, name, started, offset, newServerGrace());
            trace(() -> "--- restarted without data, epoch " + next.identity.epoch());
            moveTo(next);
        });
    }

    private void migrate() {
        GraceNode old = master;
        String name = "s" + nodes++;
        ServerIdentity there = new ServerIdentity(
                1 + random.nextLong((1L << 32) - 1),
                "run" + name,
                name,
                chance(0.5),
                1_000_000_000_000L - 3_600_000_000L,
                Set.of(old.identity.node(), name));
        // times move with the keys: clocks that differ by more than the margin of a lease would end leases early
        long near = old.clockOffset() + random.nextLong(600_000) - 300_000;
        GraceNode next = new GraceNode(time, name, there, near, newServerGrace());
        next.copy(old, time.now());
        trace(() -> "--- the keys migrate to " + name + ", epoch " + there.epoch());
        old.silent = true;
        master = next;
        for (Player player : players) {
            player.link().reconnect(next, true);
        }
    }

    private void firstReplica() {
        ServerIdentity now = master.identity;
        master.identity = identity(now.run(), now.node(), false, -3_600);
        trace(() -> "--- the epoch changes to " + master.identity.epoch());
    }

    // ---- the end

    private void drain() {
        Player player = join();
        for (int key = 0; key < limits.length; key++) {
            List<Permit> taken = new ArrayList<>();
            for (int i = 0; i <= player.limit[key]; i++) {
                List<Permit> got = new ArrayList<>();
                player.engine
                        .named("k" + key)
                        .acquireAsync(PermitRequest.of("k" + key).withoutWaiting())
                        .whenComplete((permit, failure) -> {
                            if (permit != null) {
                                got.add(permit);
                            } else {
                                trace(() -> "tried in vain: " + failure);
                            }
                        });
                runTo(time.now() + 3 * SECOND);
                boolean expected = i < player.limit[key];
                if (got.isEmpty() == expected) {
                    throw found("permit %d of %d of k%d: %s", i + 1, player.limit[key], key, got);
                }
                taken.addAll(got);
            }
            taken.forEach(Permit::release);
        }
    }

    private void trace(Supplier<String> line) {
        if (traced) {
            history.add("%12.3f %s".formatted(time.now() / 1e6, line.get()));
            if (history.size() > HISTORY) {
                history.removeFirst();
            }
        }
    }
}
