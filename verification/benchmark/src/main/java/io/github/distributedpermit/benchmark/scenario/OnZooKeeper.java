package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.List;

/** ZooKeeper, beside Curator's recipe. */
public final class OnZooKeeper implements Scenario {

    /** Rounds of 200 ms: five seconds of each contender. */
    private static final int WARM_UP = 25;

    @Override
    public String title() {
        return "ZooKeeper";
    }

    @Override
    public void run(Bench bench) throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start()) {
            bench.report().setting("ZooKeeper server", server.version() + ", in the benchmark's own process");
            Bench here = new Bench(bench.effort(), Stores.zooKeeper(server.connectString()), bench.report());
            uncontended(here);
            contended(here, 200, 2000, 200);
            contended(here, 20, 1500, 20); // where Curator's recipe does not collapse
        }
    }

    private static void uncontended(Bench bench) throws Exception {
        Workload work = Workload.of(1, 10, Duration.ZERO, Duration.ofMillis(200));
        String load = "ZooKeeper, one thread, one key";
        List<String> names = List.of(Cast.ZOOKEEPER, Cast.CURATOR, Cast.CREATE);
        Duel duel = bench.warmDuel(work, names, 0, WARM_UP, bench.effort().rounds(8, 36));
        bench.report()
                .row(
                        "pair",
                        load,
                        "x Curator",
                        duel.ratio(Cast.CURATOR, Cast.ZOOKEEPER, SliceStats::perSecond),
                        Mark.atMost(0.35));
        for (String name : names) {
            bench.report().figure(load, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
        }
    }

    private static void contended(Bench bench, int threads, long quickMillis, double bound) throws Exception {
        Workload work =
                Workload.of(threads, 10, Duration.ofMillis(1), bench.effort().slice(quickMillis, 6000));
        String load = "ZooKeeper, " + Contended.load(10, threads, work);
        List<String> names = List.of(Cast.ZOOKEEPER, Cast.CURATOR);
        Duel duel = bench.duel(
                work, names, true, Contended.EVENTS, 1, bench.effort().rounds(2, 9));
        bench.report()
                .row(
                        "throughput",
                        load,
                        "x Curator",
                        duel.ratio(Cast.ZOOKEEPER, Cast.CURATOR, SliceStats::perSecond),
                        Mark.atLeast(bound));
        new Rows(bench.report(), duel, load).figures(names);
    }
}
