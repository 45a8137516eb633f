package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import java.time.Duration;
import java.util.Random;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** What a seed makes of a run: who takes part, with which settings, and how bad the weather gets. */
final class SimPlan {

    static final int MOST_WAITERS = 50;

    private static final long MILLI = Weather.MILLI;

    final long seed;
    final SplittableRandom random;
    final int members;
    final int[] limits;
    final boolean limitsDiffer;
    final boolean weights;
    final boolean overrides;
    /** A lease so long that nothing but the protocol itself can bring back a permit. */
    final boolean endless;

    final long lease;
    final long commandTimeout;
    final long recheck;
    final long slice;
    final long linger;
    /** 0 fair, 1 some faults, 2 many. */
    final int severity;

    final long duration;
    final int calls;
    final long gap;
    final long hold;
    final long slowest;
    /** Whether callbacks run a little later than what they tell of. */
    final boolean deferred;
    /** For so many leases nothing reaches one of the members, while all that it sends arrives; 0 for never. */
    final int deafLeases;
    /** How long calls wait for a store that does not answer. */
    final long storeTimeout;
    /** For what was added later, so that the other seeds stay what they were. */
    final SplittableRandom later;

    /** Whether calls are rejected whose time-out will pass before their turn. */
    final boolean rejectHopeless;

    /** Draws the head starts of calls; {@code null} if they have none. */
    private final @Nullable SplittableRandom headStarts;

    /** Whether each member draws its limits by itself. */
    private final boolean mixed;

    /** Draws the limits that calls state; {@code null} if those of a member are the same. */
    private final @Nullable SplittableRandom ownLimits;

    SimPlan(long seed) {
        this(seed, Series.PLAIN);
    }

    /** Draws the groups of calls; {@code null} if they have none. */
    private final @Nullable SplittableRandom groups;

    /** Draws what calls of chains ask for; {@code null} if there are none. */
    final @Nullable Random chains;

    /** What is special about the runs of a series. */
    enum Series {
        PLAIN,
        /** Each member draws its limits by itself, and there are at least two. */
        MEMBERS_DIFFER,
        /** Each call draws its limit. */
        CALLS_DIFFER,
        /** Calls are of several groups. */
        GROUPS,
        /** Calls take permits of several keys that lie within each other. */
        CHAINS
    }

    SimPlan(long seed, Series series) {
        this.seed = seed;
        this.mixed = series == Series.MEMBERS_DIFFER;
        this.ownLimits = series == Series.CALLS_DIFFER ? new SplittableRandom(seed * 31 + 41) : null;
        this.groups = series == Series.GROUPS ? new SplittableRandom(seed * 31 + 43) : null;
        this.chains = series == Series.CHAINS ? new Random(seed * 31 + 53) : null;
        this.random = new SplittableRandom(seed);
        members = (mixed ? 2 : 1) + random.nextInt(5);
        limits = new int[chains == null ? 1 + random.nextInt(3) : 3];
        boolean narrow = chance(0.5);
        for (int i = 0; i < limits.length; i++) {
            limits[i] = 1 + random.nextInt(narrow ? 2 : 5);
        }
        limitsDiffer = chance(0.25) || mixed || ownLimits != null;
        weights = chance(0.3);
        overrides = chance(0.3);
        endless = chance(0.3);
        lease = endless ? Duration.ofHours(1).toNanos() : between(300, 2_000) * MILLI;
        commandTimeout = endless ? between(40, 300) * MILLI : lease / (4 + random.nextInt(5));
        recheck = between(30, 300) * MILLI;
        slice = new long[] {0, 2, 5, 20}[random.nextInt(4)] * MILLI;
        linger = chance(0.5) ? 0 : between(1, 5) * MILLI;
        var unused = random.nextInt(4); // seeds with a known result count on it
        double worse = random.nextDouble();
        severity = worse < 0.25 ? 0 : worse < 0.6 ? 1 : 2;
        duration = between(300, 1_500) * MILLI;
        calls = 60 + random.nextInt(240);
        gap = between(3, 30) * MILLI;
        hold = between(1, 15) * MILLI;
        deferred = chance(0.5);
        slowest = chance(0.5) ? MILLI : between(1, 4) * MILLI;
        later = new SplittableRandom(seed * 31 + 17);
        boolean deaf = later.nextDouble() < 0.3 && !endless && severity > 0;
        deafLeases = deaf ? 2 + later.nextInt(11) : 0;
        storeTimeout = commandTimeout + later.nextLong(later.nextBoolean() ? 20 * commandTimeout : 10_000 * MILLI);
        SplittableRandom ahead = new SplittableRandom(seed * 31 + 37);
        headStarts = ahead.nextInt(3) == 0 ? ahead : null;
        rejectHopeless = new SplittableRandom(seed * 31 + 47).nextInt(3) == 0;
    }

    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    long between(long least, long most) {
        return random.nextLong(least, most + 1);
    }

    /** Up to twice the mean, evenly. */
    long around(long mean) {
        return random.nextLong(2 * mean + 1);
    }

    /** How much earlier the next call is queued than it arrives. */
    long headStart() {
        return headStarts == null || headStarts.nextInt(4) > 0 ? 0 : headStarts.nextLong(200 * MILLI);
    }

    /** The group of the next call; {@code null} for none. */
    @Nullable
    String group() {
        return groups == null ? null : "g" + (groups.nextInt(4) == 0 ? 1 + groups.nextInt(2) : 0);
    }

    boolean hasGroups() {
        return groups != null;
    }

    /** The weight of a group. */
    static int weightOf(String group) {
        return group.equals("g2") ? 2 : 1;
    }

    /** The settings of the permit of this key, of a member with this limit. */
    PermitSettings settings(int key, int limit) {
        return PermitSettings.builder()
                .limit(limitsAreOfCalls() ? PermitDefinition.PER_CALL : limit)
                .within(chains == null || key + 1 == limits.length ? null : SimMember.name(key + 1))
                .build();
    }

    /** Whether each call states a limit. */
    boolean limitsAreOfCalls() {
        return ownLimits != null;
    }

    /** The limit of the next call, for this many permits of a member with this limit. */
    int ownLimit(int weight, int most) {
        return ownLimits == null || ownLimits.nextInt(2) == 0 ? most : ownLimits.nextInt(weight, most + 1);
    }

    int limit(int key) {
        if (ownLimits != null) {
            return 1 + random.nextInt(6);
        }
        if (mixed) {
            return 1 + random.nextInt(6);
        }
        return limitsDiffer ? Math.max(1, limits[key] - 1 + random.nextInt(3)) : limits[key];
    }

    CoreSettings settings() {
        return CoreSettings.DEFAULTS.toBuilder()
                .lease(Duration.ofNanos(lease))
                .commandTimeout(Duration.ofNanos(commandTimeout))
                .recheck(Duration.ofNanos(recheck))
                .handOverSlice(Duration.ofNanos(slice))
                .permits(PermitSettings.builder()
                        .storeTimeout(Duration.ofNanos(storeTimeout))
                        .linger(Duration.ofNanos(linger))
                        .maxWaiting(MOST_WAITERS)
                        .rejectHopeless(rejectHopeless)
                        .build())
                .maxKeys(100)
                .build();
    }

    @Override
    public String toString() {
        return "seed %d: %d members, limits %s%s%s%s%s, lease %d ms, command %d ms, store %d ms, recheck %d ms, slice %d ms, linger %d ms, severity %d, %d ms, gap %d ms, hold %d ms"
                .formatted(
                        seed,
                        members,
                        java.util.Arrays.toString(limits),
                        limitsDiffer ? " differing" : "",
                        weights ? ", weights" : "",
                        overrides ? ", overrides" : "",
                        (headStarts == null ? "" : ", head starts") + (ownLimits == null ? "" : ", limits of calls"),
                        lease / MILLI,
                        commandTimeout / MILLI,
                        storeTimeout / MILLI,
                        recheck / MILLI,
                        slice / MILLI,
                        linger / MILLI,
                        severity,
                        duration / MILLI,
                        gap / MILLI,
                        hold / MILLI);
    }
}
