package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a setting changes: this library beside itself. It has no marks, and is part of a full run only. */
public final class SettingsThatMatter implements Scenario {

    private static final Duration HOLD = Duration.ofMillis(1);
    private static final Duration SLICE = Duration.ofMillis(1500);

    private final RedisServer redis;

    /** Counts what reaches this server. */
    public SettingsThatMatter(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "settings";
    }

    @Override
    public boolean isQuick() {
        return false;
    }

    @Override
    public void run(Bench bench) throws Exception {
        shared(
                bench,
                Workload.of(8, 3, HOLD, SLICE).in(2),
                "2 processes x 8 threads, limit 3, hold 1 ms",
                "hand-over-slice: 1ms",
                "hand-over-slice: 5ms",
                "hand-over-slice: 20ms",
                "hand-over-slice: 100ms");
        shared(
                bench,
                Workload.of(1, 1, HOLD, SLICE).in(2),
                "2 processes x 1 thread, limit 1, hold 1 ms",
                "linger: 0ms",
                "linger: 1ms",
                "linger: 10ms",
                "release: sync");
        alone(bench, "linger: 0ms", "linger: 1ms", "release: sync", "lease: 6s", "lease: 60s");
    }

    private void shared(Bench bench, Workload work, String load, String... settings) throws Exception {
        int warmUp = 2;
        Map<String, CallMeter> meters = meters(settings);
        Duel duel = bench.fleetDuel(work, List.copyOf(meters.keySet()), Contended.EVENTS, warmUp, 4, meters);
        meters.forEach((name, calls) -> {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
            bench.report().figure(load, name, "idle share", duel.figure(name, SliceStats::idleShare));
            bench.report().figure(load, name, "longest / mean wait", duel.figure(name, SliceStats::longestByMean));
            calls.report(bench.report(), load, name);
        });
    }

    private void alone(Bench bench, String... settings) throws Exception {
        int warmUp = 20;
        String load = "1 thread, no contention";
        Map<String, CallMeter> meters = meters(settings);
        Workload work = Workload.of(1, 10, Duration.ZERO, Duration.ofMillis(50));
        Duel duel = bench.duel(work, List.copyOf(meters.keySet()), false, 0, warmUp, 60, meters);
        meters.forEach((name, calls) -> {
            bench.report().figure(load, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
            calls.report(bench.report(), load, name);
        });
    }

    private Map<String, CallMeter> meters(String[] settings) {
        Map<String, CallMeter> meters = new LinkedHashMap<>();
        for (String setting : settings) {
            meters.put(Cast.ours(setting), new CallMeter(redis));
        }
        return meters;
    }
}
