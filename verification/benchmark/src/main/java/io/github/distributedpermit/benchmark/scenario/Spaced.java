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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * One thread that calls now and then, without contention: the ordinary call, whose caches and processor have cooled. How an acquire
 * alone compares depends on the run, so that it is shown over three runs, each with clients of its own, and has no mark.
 */
public final class Spaced implements Scenario {

    private static final Duration HOLD = Duration.ofNanos(250_000);
    private static final int EVENTS = 2_000;
    private static final int RUNS = 3;

    /** What an acquire of ours is compared with. */
    private static final List<String> PEERS = List.of(Cast.RSEMAPHORE, Cast.CRASH_SAFE);

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
        List<String> all = bench.effort()
                .contenders(
                        List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.EVALSHA, Cast.CRASH_SAFE),
                        Cast.OURS_METRICS,
                        Cast.OURS_SYNC);
        // warm-up rounds are 200 ms and 500 ms long: five seconds of each contender
        Workload dense = Workload.of(1, 10, HOLD, Duration.ofMillis(200)).spaced(HOLD);
        measure(bench, dense, "pause 0.25 ms", all, 25, bench.effort().rounds(6, 20), 0.8);
        Workload sparse = Workload.of(1, 10, HOLD, Duration.ofSeconds(1)).spaced(Duration.ofMillis(20));
        List<String> both = List.of(Cast.OURS, Cast.RSEMAPHORE);
        measure(bench, sparse, "pause 20 ms", both, 10, bench.effort().rounds(4, 10), 0.65);
    }

    private void measure(
            Bench bench, Workload work, String pause, List<String> names, int warmUp, int rounds, double bound)
            throws Exception {
        String load = "one thread, one key, hold 0.25 ms, " + pause;
        Map<String, CallMeter> meters = new LinkedHashMap<>();
        names.forEach(name -> meters.put(name, new CallMeter(redis)));
        List<Duel> runs = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            int least = run == 0 ? warmUp : warmUp / 2; // later the code is compiled
            runs.add(bench.warmDuel(work, names, EVENTS, least, rounds, meters));
        }
        Duel all = Duel.of(runs);
        bench.report()
                .row(
                        "pair",
                        load,
                        "x " + Cast.RSEMAPHORE,
                        all.ratio(Cast.OURS, Cast.RSEMAPHORE, of(CallTimes::pair)),
                        Mark.atMost(bound));
        names.stream().filter(PEERS::contains).forEach(peer -> {
            double[] medians = runs.stream()
                    .mapToDouble(run ->
                            run.ratio(Cast.OURS, peer, of(CallTimes::acquire)).median())
                    .sorted()
                    .toArray();
            Quartiles spread = new Quartiles(medians[0], medians[RUNS / 2], medians[RUNS - 1]);
            bench.report().figure(load, Cast.OURS, "acquire x " + peer + ", least to most of 3 runs", spread);
        });
        for (String name : names) {
            figures(bench, all, load, name);
        }
        meters.forEach((name, meter) -> meter.report(bench.report(), load, name));
        meters.forEach(
                (name, meter) -> bench.report().figure(load, name, "server us of a script", meter.microsPerCall()));
        if (names.contains(Cast.OURS_METRICS)) {
            bench.report()
                    .figure(
                            load,
                            Cast.OURS_METRICS,
                            "acquire x metrics off",
                            all.ratio(Cast.OURS_METRICS, Cast.OURS, of(CallTimes::acquire)));
        }
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
