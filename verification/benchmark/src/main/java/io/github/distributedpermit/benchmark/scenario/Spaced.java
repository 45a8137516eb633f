package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.CallTimes;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** One thread that calls now and then, without contention: the ordinary call, whose caches and processor have cooled. */
public final class Spaced implements Scenario {

    private static final Duration GAP = Duration.ofNanos(250_000);
    private static final String LOAD = "one thread, one key, hold 0.25 ms, pause 0.25 ms";
    private static final int EVENTS = 2_000;

    /** Rounds of 200 ms: five seconds of each contender. */
    private static final int WARM_UP = 25;

    private final RedisServer redis;

    /** Measures this server. */
    public Spaced(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "spaced pair on Redis";
    }

    @Override
    public void run(Bench bench) throws Exception {
        Workload work = Workload.of(1, 10, GAP, Duration.ofMillis(200)).spaced(GAP);
        List<String> names = bench.effort()
                .contenders(
                        List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.EVALSHA, Cast.CRASH_SAFE),
                        Cast.OURS_METRICS,
                        Cast.OURS_SYNC);
        Map<String, CallMeter> meters = new LinkedHashMap<>();
        names.forEach(name -> meters.put(name, new CallMeter(redis)));
        Duel duel = bench.warmDuel(work, names, EVENTS, WARM_UP, bench.effort().rounds(16, 60), meters);
        row(bench, duel, "acquire alone", Cast.RSEMAPHORE, CallTimes::acquire, Mark.atMost(1));
        row(bench, duel, "acquire alone", Cast.EVALSHA, CallTimes::acquire, Mark.atMost(1.3));
        row(bench, duel, "pair", Cast.RSEMAPHORE, CallTimes::pair, Mark.atMost(0.6));
        for (String name : names) {
            figures(bench, duel, LOAD, name);
            bench.report().figure(LOAD, name, "acquire x " + Cast.CRASH_SAFE, ratio(duel, name, Cast.CRASH_SAFE));
        }
        meters.forEach((name, meter) -> meter.report(bench.report(), LOAD, name));
        meters.forEach(
                (name, meter) -> bench.report().figure(LOAD, name, "server us of a script", meter.microsPerCall()));
        if (names.contains(Cast.OURS_METRICS)) {
            bench.report()
                    .figure(
                            LOAD,
                            Cast.OURS_METRICS,
                            "acquire x metrics off",
                            ratio(duel, Cast.OURS_METRICS, Cast.OURS));
        }
    }

    private static void row(
            Bench bench, Duel duel, String metric, String peer, ToDoubleFunction<CallTimes> what, Mark mark) {
        bench.report().row(metric, LOAD, "x " + peer, duel.ratio(Cast.OURS, peer, of(what)), mark);
    }

    private static Quartiles ratio(Duel duel, String name, String other) {
        return duel.ratio(name, other, of(CallTimes::acquire));
    }

    /** What one contender's calls took by the clock of their thread. */
    static void figures(Bench bench, Duel duel, String load, String name) {
        figure(bench, duel, load, name, "acquire us", CallTimes::acquire);
        figure(bench, duel, load, name, "acquire us, p99", CallTimes::slowAcquire);
        figure(bench, duel, load, name, "release us", CallTimes::release);
        figure(bench, duel, load, name, "us per pair", CallTimes::pair);
    }

    private static void figure(
            Bench bench, Duel duel, String load, String name, String metric, ToDoubleFunction<CallTimes> what) {
        bench.report().figure(load, name, metric, duel.figure(name, stats -> what.applyAsDouble(stats.times()) / 1000));
    }

    private static ToDoubleFunction<SliceStats> of(ToDoubleFunction<CallTimes> what) {
        return stats -> what.applyAsDouble(stats.times());
    }
}
