package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import java.time.Duration;
import java.util.List;

/** One thread acquires and releases without contention: what a call pays when a permit is free. */
public final class Uncontended implements Scenario {

    /** Rounds of 50 ms: five seconds of each contender. */
    private static final int WARM_UP = 100;

    private static final String LOAD = "one thread, one key";

    @Override
    public String title() {
        return "uncontended pair on Redis";
    }

    @Override
    public void run(Bench bench) throws Exception {
        Workload work = Workload.of(1, 10, Duration.ZERO, Duration.ofMillis(50));
        List<String> peers = List.of(
                Cast.OURS, Cast.RSEMAPHORE, Cast.OURS_SYNC, Cast.EXPIRABLE, Cast.OURS_LINGER, Cast.EVALSHA, Cast.PING);
        List<String> names = bench.effort().contenders(peers, Cast.ZSET);
        Duel duel = bench.warmDuel(work, names, 0, WARM_UP, bench.effort().rounds(30, 120));
        row(bench, duel, "pair, asynchronous return", Cast.OURS, 0.6);
        row(bench, duel, "pair, linger 1 ms", Cast.OURS_LINGER, 0.01);
        for (String name : names) {
            bench.report().figure(LOAD, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
            bench.report().figure(LOAD, name, "x RSemaphore", duel.ratio(Cast.RSEMAPHORE, name, SliceStats::perSecond));
            bench.report().figure(LOAD, name, "x EVALSHA", duel.ratio(Cast.EVALSHA, name, SliceStats::perSecond));
        }
    }

    private static void row(Bench bench, Duel duel, String metric, String name, double bound) {
        bench.report()
                .row(
                        metric,
                        LOAD,
                        "x RSemaphore",
                        duel.ratio(Cast.RSEMAPHORE, name, SliceStats::perSecond),
                        Mark.atMost(bound));
    }
}
