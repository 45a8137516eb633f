package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Fleet;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Several processes that compete for the same permits. */
public final class Processes implements Scenario {

    private static final int MOST = 4;
    private static final int LIMIT = 3;
    private static final int THREADS = 16;
    private static final List<String> BOTH = List.of(Cast.OURS, Cast.RSEMAPHORE);

    private final RedisServer redis;

    /** Counts what reaches this server. */
    public Processes(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "contended, several processes";
    }

    @Override
    public void run(Bench bench) throws Exception {
        // one fleet for all, so that its processes are warm when the permits are held
        try (Fleet fleet = new Fleet(bench.stores(), MOST)) {
            withoutHold(bench, fleet);
            withHold(bench, fleet, 2);
            withHold(bench, fleet, MOST);
            oneThreadEach(bench, fleet);
        }
    }

    private void withoutHold(Bench bench, Fleet fleet) throws Exception {
        Workload work = Workload.of(
                        THREADS, LIMIT, Duration.ZERO, bench.effort().slice(700, 2000))
                .in(MOST);
        Duel duel = bench.fleetDuel(fleet, work, BOTH, 0, 4, bench.effort().rounds(5, 18), Map.of());
        String load = load(work);
        Rows rows = new Rows(bench.report(), duel, load);
        rows.ratio("throughput, no hold", SliceStats::perSecond, Mark.atLeast(50));
        for (String name : BOTH) {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
        }
    }

    private void withHold(Bench bench, Fleet fleet, int processes) throws Exception {
        int warmUp = 1;
        Workload work = Workload.of(THREADS, LIMIT, Duration.ofMillis(1), Duration.ofMillis(2000))
                .in(processes);
        CallMeter calls = new CallMeter(redis);
        CallMeter theirs = new CallMeter(redis);
        Duel duel = bench.fleetDuel(
                fleet,
                work,
                BOTH,
                Contended.EVENTS,
                warmUp,
                bench.effort().rounds(3),
                Map.of(Cast.OURS, calls, Cast.RSEMAPHORE, theirs));
        String load = load(work);
        Rows rows = new Rows(bench.report(), duel, load);
        rows.utilisation(0.15);
        rows.own("fastest / slowest process", SliceStats::processes, Mark.atMost(1.1));
        rows.fairness();
        bench.report().row("script calls per pair", load, "calls", calls.callsPerPair(), Mark.atMost(0.35));
        calls.report(bench.report(), load, Cast.OURS);
        theirs.report(bench.report(), load, Cast.RSEMAPHORE);
        rows.figures(BOTH);
    }

    private void oneThreadEach(Bench bench, Fleet fleet) throws Exception {
        int warmUp = 1;
        Workload work = Workload.of(1, 1, Duration.ofMillis(1), bench.effort().slice(1000, 3000))
                .in(MOST);
        CallMeter calls = new CallMeter(redis);
        Duel duel = bench.fleetDuel(
                fleet, work, BOTH, Contended.EVENTS, warmUp, bench.effort().rounds(5), Map.of(Cast.OURS, calls));
        String load = load(work);
        Rows rows = new Rows(bench.report(), duel, load);
        rows.ratio("hand-over between processes", SliceStats::handOver, Mark.atMost(0.85));
        bench.report().row("script calls per pair", load, "calls", calls.callsPerPair(), Mark.atMost(2.05));
        rows.figures(BOTH);
    }

    private static String load(Workload work) {
        return "%d processes x %d thread%s, limit %d, hold %d ms"
                .formatted(
                        work.processes(),
                        work.threads(),
                        work.threads() == 1 ? "" : "s",
                        work.limit(),
                        work.hold().toMillis());
    }
}
