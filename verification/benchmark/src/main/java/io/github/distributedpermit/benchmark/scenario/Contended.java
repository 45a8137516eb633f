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

/** More threads than permits, in one process. */
public final class Contended implements Scenario {

    static final int EVENTS = 20_000;

    private final RedisServer redis;

    /** Counts what reaches this server. */
    public Contended(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "contended, one process";
    }

    @Override
    public void run(Bench bench) throws Exception {
        // the JDK's semaphore shows what waits the machine alone causes
        List<String> few = List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.JUC);
        withoutHold(bench, 3, 15);
        List<String> all = bench.effort().contenders(few, Cast.EXPIRABLE, Cast.ZSET);
        withHold(bench, 3, 15, all);
        withoutHold(bench, 10, 200);
        withHold(bench, 10, 200, all);
        if (all.equals(few)) {
            forThePlot(bench, 10, 200);
        }
    }

    /** One round of the contenders that have no marks, so that the plot shows them after a quick run too. */
    private static void forThePlot(Bench bench, int limit, int threads) throws Exception {
        Workload work = work(bench, limit, threads);
        List<String> names = List.of(Cast.EXPIRABLE, Cast.ZSET);
        Duel duel = bench.duel(work, names, true, EVENTS, 1, 1);
        new Rows(bench.report(), duel, load(limit, threads, work)).figures(names);
    }

    private static Workload work(Bench bench, int limit, int threads) {
        return Workload.of(threads, limit, Duration.ofMillis(1), Duration.ofMillis(2000));
    }

    private void withoutHold(Bench bench, int limit, int threads) throws Exception {
        Workload work = Workload.of(threads, limit, Duration.ZERO, Duration.ofMillis(400));
        List<String> names = bench.effort().contenders(List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.JUC), Cast.LOCAL);
        Duel duel = bench.duel(work, names, true, 0, 3, bench.effort().rounds(6, 24));
        String load = load(limit, threads, work);
        bench.report()
                .row(
                        "throughput, no hold",
                        load,
                        "x RSemaphore",
                        duel.ratio(Cast.OURS, Cast.RSEMAPHORE, SliceStats::perSecond),
                        Mark.atLeast(20));
        for (String name : names) {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
        }
    }

    private void withHold(Bench bench, int limit, int threads, List<String> names) throws Exception {
        Workload work = work(bench, limit, threads);
        CallMeter calls = new CallMeter(redis);
        CallMeter theirs = new CallMeter(redis);
        Duel duel = bench.duel(
                work,
                names,
                true,
                EVENTS,
                1,
                bench.effort().rounds(3),
                Map.of(Cast.OURS, calls, Cast.RSEMAPHORE, theirs));
        String load = load(limit, threads, work);
        Rows rows = new Rows(bench.report(), duel, load);
        rows.utilisation(0.05);
        rows.ratio("hand-over", SliceStats::handOver, Mark.atMost(0.06));
        rows.fairness();
        bench.report().row("script calls per pair", load, "calls", calls.callsPerPair(), Mark.atMost(0.35));
        calls.report(bench.report(), load, Cast.OURS);
        theirs.report(bench.report(), load, Cast.RSEMAPHORE);
        rows.figures(names);
    }

    static String load(int limit, int threads, Workload work) {
        return "limit %d, %d threads, hold %d ms"
                .formatted(limit, threads, work.hold().toMillis());
    }
}
