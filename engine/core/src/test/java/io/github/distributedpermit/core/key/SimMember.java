package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One simulated instance of an application: a real engine, and what the world knows of its calls. */
final class SimMember {

    static final long DEFERRED = 300_000;

    final SimProcess process;
    final PermitEngine engine;
    final int[] limits;
    final SimLink link;
    /** Calls that wait, first come first, per key. */
    final List<List<SimCall>> waiting = new ArrayList<>();
    /** Calls that hold, per key. */
    final List<List<SimCall>> holding = new ArrayList<>();
    /** Until when the answers delivered so far allow to hold, on the member's clock, per key. */
    final long[] confirmedUntil;
    /** When an answer was delivered although the earlier ones allowed it no longer, on the common clock, per key. */
    final long[] lapsedAt;
    /** Since when nothing has come although a claim was sent, on the member's clock, per key. */
    final long[] unansweredSince;
    /** When something came last, in running time of the member, per key; at the end for queues that their keys have no more. */
    final long[] heardAt;

    /** The same before the first of the answers that came since callbacks may have been decided, and when that came. */
    final long[] heardBefore;

    final long[] answeredAt;

    /** When a claim failed last, in running time of the member, per key. */
    final long[] failedAt;

    /** The queue that has sent each claim. */
    final Map<Long, KeyQueueState> senders = new HashMap<>();

    /** When it last asked for more than it used, on the member's clock, per key. */
    final long[] wantedAt;

    final Budget[] claims;
    final Budget timers;
    boolean leaving;

    SimMember(String id, SimPlan plan, SimNetwork network, long clockOffset) {
        process = new SimProcess(id, network.time, clockOffset);
        int keys = plan.limits.length;
        limits = new int[keys];
        confirmedUntil = new long[keys];
        lapsedAt = new long[keys];
        unansweredSince = new long[keys];
        wantedAt = new long[keys];
        heardAt = new long[keys + 1];
        heardBefore = new long[keys + 1];
        answeredAt = new long[keys + 1];
        Arrays.fill(heardAt, process.clock());
        Arrays.fill(heardBefore, process.clock());
        Arrays.fill(answeredAt, Long.MIN_VALUE / 2);
        failedAt = new long[keys];
        claims = new Budget[keys];
        timers = new Budget(network.time, 200, 200);
        Map<String, PermitSettings> named = new HashMap<>();
        for (int key = 0; key < keys; key++) {
            limits[key] = plan.limit(key);
            confirmedUntil[key] = Long.MIN_VALUE;
            lapsedAt[key] = Long.MIN_VALUE / 2;
            unansweredSince[key] = Long.MAX_VALUE;
            wantedAt[key] = process.clock();
            failedAt[key] = Long.MIN_VALUE;
            claims[key] = plan.limitsAreOfCalls()
                    ? new Budget(network.time, 300, 400) // each limit is tried
                    : new Budget(network.time, 60, 40);
            waiting.add(new ArrayList<>());
            holding.add(new ArrayList<>());
            named.put(name(key), plan.settings(key, limits[key]));
        }
        engine = new PermitEngine(
                network.backend(process),
                new Member(id, id),
                plan.settings(),
                PermitSettings.NONE,
                named,
                new CoreEnvironment(
                        process::clock,
                        process,
                        plan.deferred ? task -> network.time.after(DEFERRED, process, task) : Runnable::run,
                        plan.deferred ? task -> network.time.after(DEFERRED, process, task) : Runnable::run,
                        plan.random::nextDouble,
                        Observers.NONE));
        link = network.link(id);
    }

    static String name(int key) {
        return "k" + key;
    }

    /** Whether a key is one that calls use, and not one of the core itself. */
    static boolean isOfCalls(String name) {
        return name.startsWith("k");
    }

    static int key(String name) {
        return Integer.parseInt(name.substring(1));
    }

    boolean isRunning() {
        return !process.isDead();
    }

    @Override
    public String toString() {
        return process.id;
    }

    /** How often something may be done: a little all the time, more when there is a reason. */
    static final class Budget {
        private final Timeline time;
        private final double most;
        private final double perSecond;
        private double left;
        private long at;

        Budget(Timeline time, double most, double perSecond) {
            this.time = time;
            this.most = most;
            this.perSecond = perSecond;
            this.left = most;
        }

        void earn(double amount) {
            left += amount;
        }

        /** {@code false} if it is spent. */
        boolean spend() {
            if (left < most) {
                left = Math.min(
                        most,
                        left
                                + perSecond
                                        * (time.now() - at)
                                        / Duration.ofSeconds(1).toNanos());
            }
            at = time.now();
            left--;
            return left >= 0;
        }
    }
}
