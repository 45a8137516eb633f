package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.ConsulServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Consul, beside what people write for it themselves. */
public final class OnConsul implements Scenario {

    /** Rounds of 300 ms: five seconds of each contender. */
    private static final int WARM_UP = 17;

    /** Long enough for what a call leaves behind to have ended before the next call. */
    private static final Duration GAP = Duration.ofMillis(2);

    private static final int EVENTS = 1_000;

    @Override
    public String title() {
        return "Consul";
    }

    @Override
    public void run(Bench bench) throws Exception {
        Optional<ConsulServer> started = ConsulServer.start();
        if (started.isEmpty()) {
            bench.report()
                    .skipped(
                            "everything on Consul",
                            "no 'consul' on the PATH; name one with -Dconsul.binary=/path/to/consul");
            return;
        }
        try (ConsulServer server = started.get()) {
            bench.report().setting("Consul server", server.version() + ", -dev");
            Bench here = new Bench(bench.effort(), Stores.consul(server.port()), bench.report());
            uncontended(here, server);
            acquireAlone(here, server);
            contended(here);
        }
    }

    private static void uncontended(Bench bench, ConsulServer server) throws Exception {
        Workload work = Workload.of(1, 10, Duration.ZERO, Duration.ofMillis(300));
        String load = "Consul, one thread, one key";
        List<String> names =
                bench.effort().contenders(List.of(Cast.CONSUL, Cast.CONSUL_SLOTS, Cast.PUT), Cast.CONSUL_LOCK);
        List<Double> writes = new ArrayList<>();
        UnaryOperator<Slice> meter = writesPerPair(server, writes);
        Duel duel = bench.warmDuel(work, names, 0, WARM_UP, bench.effort().rounds(8), Map.of(Cast.CONSUL, meter));
        // the agent itself writes now and then, too
        bench.report().figure(load, Cast.CONSUL, "writes per pair", Quartiles.of(writes));
        bench.report()
                .row(
                        "pair",
                        load,
                        "x naive slots",
                        duel.ratio(Cast.CONSUL_SLOTS, Cast.CONSUL, SliceStats::perSecond),
                        Mark.atMost(1.2));
        for (String name : names) {
            bench.report().figure(load, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
        }
    }

    private static UnaryOperator<Slice> writesPerPair(ConsulServer server, List<Double> found) {
        return slice -> number -> {
            long before = server.writes();
            SliceStats stats = slice.run(number);
            if (number >= 0) {
                found.add((double) (server.writes() - before) / stats.pairs());
            }
            return stats;
        };
    }

    /** Spaced, since in a loop an acquire waits for the transaction that returns the permit of the call before it. */
    private static void acquireAlone(Bench bench, ConsulServer server) throws Exception {
        Workload work = Workload.of(1, 10, GAP, Duration.ofMillis(300)).spaced(GAP);
        String load = "Consul, one thread, one key, hold 2 ms, pause 2 ms";
        List<String> names = List.of(Cast.CONSUL, Cast.CONSUL_SLOTS, Cast.PUT);
        List<Double> writes = new ArrayList<>();
        UnaryOperator<Slice> meter = writesPerPair(server, writes);
        Duel duel =
                bench.warmDuel(work, names, EVENTS, WARM_UP, bench.effort().rounds(10, 45), Map.of(Cast.CONSUL, meter));
        // the agent itself writes now and then, too
        bench.report().row("writes per pair", load, "log entries", Quartiles.of(writes), Mark.atMost(2.05));
        bench.report()
                .row(
                        "acquire alone",
                        load,
                        "x " + Cast.PUT,
                        duel.ratio(Cast.CONSUL, Cast.PUT, stats -> stats.times().acquire()),
                        Mark.atMost(1.7));
        for (String name : names) {
            Spaced.figures(bench, duel, load, name);
        }
    }

    private static void contended(Bench bench) throws Exception {
        Workload work =
                Workload.of(200, 10, Duration.ofMillis(1), bench.effort().slice(1500, 6000));
        String load = "Consul, " + Contended.load(10, 200, work);
        List<String> names = List.of(Cast.CONSUL, Cast.CONSUL_SLOTS, Cast.CONSUL_LOCK);
        Duel duel = bench.duel(
                work, names, true, Contended.EVENTS, 1, bench.effort().rounds(2));
        bench.report()
                .row(
                        "throughput",
                        load,
                        "x naive slots",
                        duel.ratio(Cast.CONSUL, Cast.CONSUL_SLOTS, SliceStats::perSecond),
                        Mark.atLeast(20));
        new Rows(bench.report(), duel, load).figures(names);
    }
}
