package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** How cost grows with instances, waiters and keys. It has no marks, and is part of a full run only. */
public final class Growth implements Scenario {

    private static final Duration HOLD = Duration.ofMillis(1);
    private static final Duration SLICE = Duration.ofMillis(1500);
    private static final int WARM_UP = 3;
    private static final int ROUNDS = 5;
    private static final List<String> OURS = List.of(Cast.OURS);

    private final RedisServer redis;

    /** Counts what reaches this server. */
    public Growth(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "growth";
    }

    @Override
    public boolean isQuick() {
        return false;
    }

    @Override
    public void run(Bench bench) throws Exception {
        for (int instances : new int[] {1, 2, 4, 8}) {
            Workload work = Workload.of(4, 4, HOLD, SLICE).in(instances);
            CallMeter calls = new CallMeter(redis);
            Duel duel = bench.fleetDuel(work, OURS, Contended.EVENTS, WARM_UP, ROUNDS, Map.of(Cast.OURS, calls));
            report(bench, duel, calls, instances + " instances x 4 threads, limit 4, hold 1 ms");
        }
        for (int threads : new int[] {10, 100, 1000}) {
            Workload work = Workload.of(threads, 4, HOLD, SLICE);
            CallMeter calls = new CallMeter(redis);
            Duel duel = bench.duel(work, OURS, true, Contended.EVENTS / 10, WARM_UP, ROUNDS, Map.of(Cast.OURS, calls));
            report(bench, duel, calls, threads + " threads of one instance, limit 4, hold 1 ms");
        }
        for (int keys : new int[] {1, 64, 4096}) {
            Workload work = Workload.of(64, 1000, Duration.ZERO, SLICE).on(keys);
            CallMeter calls = new CallMeter(redis);
            Duel duel = bench.duel(work, OURS, false, 0, WARM_UP, ROUNDS, Map.of(Cast.OURS, calls));
            report(bench, duel, calls, keys + " keys, 64 threads of one instance, room for all, no hold");
        }
    }

    private static void report(Bench bench, Duel duel, CallMeter calls, String load) {
        figure(bench, duel, load, "pairs per second", SliceStats::perSecond);
        figure(bench, duel, load, "idle share", SliceStats::idleShare);
        figure(bench, duel, load, "hand-over us", stats -> stats.handOver() / 1000);
        figure(bench, duel, load, "fastest / slowest process", SliceStats::processes);
        calls.report(bench.report(), load, Cast.OURS);
    }

    private static void figure(Bench bench, Duel duel, String load, String metric, ToDoubleFunction<SliceStats> what) {
        Quartiles value = duel.figure(Cast.OURS, what);
        bench.report().figure(load, Cast.OURS, metric, value);
    }
}
