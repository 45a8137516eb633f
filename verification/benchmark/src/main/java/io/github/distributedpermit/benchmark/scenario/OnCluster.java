package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A Redis Cluster of three masters: what calls cost where a command cannot span slots. */
public final class OnCluster implements Scenario {

    private static final List<String> BOTH = List.of(Cast.OURS, Cast.RSEMAPHORE);

    /** Rounds of 300 ms: five seconds of each contender. */
    private static final int WARM_UP = 17;

    /** Rounds of 300 ms before calls are counted, which depend on the speed of a client less than its times do. */
    private static final int WARM_UP_OF_COUNTS = 4;

    private static final Duration SLICE = Duration.ofMillis(300);

    @Override
    public String title() {
        return "Redis Cluster";
    }

    @Override
    public void run(Bench bench) throws Exception {
        try (RedisCluster cluster = RedisCluster.start()) {
            Bench here = new Bench(bench.effort(), Stores.redisCluster(cluster.ports()), bench.report());
            manyKeys(here, cluster);
            oneThread(here, cluster);
        }
    }

    private static void manyKeys(Bench bench, RedisCluster cluster) throws Exception {
        String load = "Cluster of three masters, 64 keys, 16 threads, limit 1000";
        CallMeter ours = new CallMeter(cluster);
        CallMeter theirs = new CallMeter(cluster);
        Workload work = Workload.of(16, 1000, Duration.ZERO, SLICE).on(64);
        Duel duel = bench.duel(work, BOTH, false, 0, WARM_UP_OF_COUNTS, rounds(bench), meters(ours, theirs));
        bench.report().row("server CPU per pair", load, "x RSemaphore", ours.serverTimeBy(theirs), Mark.atMost(0.7));
        report(bench, duel, load, ours, theirs);
    }

    private static void oneThread(Bench bench, RedisCluster cluster) throws Exception {
        String load = "Cluster of three masters, one thread, one key";
        CallMeter ours = new CallMeter(cluster);
        CallMeter theirs = new CallMeter(cluster);
        Workload work = Workload.of(1, 10, Duration.ZERO, SLICE);
        Duel duel = bench.warmDuel(work, BOTH, 0, WARM_UP, rounds(bench), meters(ours, theirs));
        bench.report().row("server CPU per pair", load, "x RSemaphore", ours.serverTimeBy(theirs), Mark.atMost(0.6));
        report(bench, duel, load, ours, theirs);
    }

    private static int rounds(Bench bench) {
        return bench.effort().rounds(6, 30);
    }

    private static Map<String, CallMeter> meters(CallMeter ours, CallMeter theirs) {
        return Map.of(Cast.OURS, ours, Cast.RSEMAPHORE, theirs);
    }

    private static void report(Bench bench, Duel duel, String load, CallMeter ours, CallMeter theirs) {
        for (String name : BOTH) {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
            bench.report().figure(load, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
            bench.report().figure(load, name, "x RSemaphore", duel.ratio(name, Cast.RSEMAPHORE, SliceStats::perSecond));
        }
        ours.report(bench.report(), load, Cast.OURS);
        theirs.report(bench.report(), load, Cast.RSEMAPHORE);
    }
}
