package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Many threads on many keys with room for all: what the store and the network can carry. The floor is one command a call. */
public final class ManyKeys implements Scenario {

    private static final int WARM_UP = 4;

    private final RedisServer redis;

    /** Counts what reaches this server. */
    public ManyKeys(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "throughput on many keys";
    }

    @Override
    public void run(Bench bench) throws Exception {
        measure(bench, 64, 5.5);
        measure(bench, 16, 2.8);
    }

    private void measure(Bench bench, int threads, double bound) throws Exception {
        Workload work = Workload.of(threads, 1000, Duration.ZERO, Duration.ofMillis(300))
                .on(64);
        String load = "64 keys, " + threads + " threads, limit 1000";
        CallMeter ours = new CallMeter(redis);
        CallMeter theirs = new CallMeter(redis);
        CallMeter floor = new CallMeter(redis);
        List<String> names =
                bench.effort().contenders(List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.EVALSHA), Cast.OURS_WITHOUT_GRACE);
        Duel duel = bench.duel(
                work,
                names,
                false,
                0,
                WARM_UP,
                bench.effort().rounds(8, 30),
                Map.of(Cast.OURS, ours, Cast.RSEMAPHORE, theirs, Cast.EVALSHA, floor));
        bench.report()
                .row(
                        "throughput, many keys",
                        load,
                        "x RSemaphore",
                        duel.ratio(Cast.OURS, Cast.RSEMAPHORE, SliceStats::perSecond),
                        Mark.atLeast(bound));
        bench.report().row("script calls per pair", load, "calls", ours.callsPerPair(), Mark.atMost(0.6));
        for (String name : names) {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
            bench.report().figure(load, name, "x RSemaphore", duel.ratio(name, Cast.RSEMAPHORE, SliceStats::perSecond));
        }
        ours.report(bench.report(), load, Cast.OURS);
        theirs.report(bench.report(), load, Cast.RSEMAPHORE);
        floor.report(bench.report(), load, Cast.EVALSHA);
    }
}
