package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.Distance;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Redis at the other end of a network: what an uncontended call and a hand-over between processes cost in round trips. */
public final class Network implements Scenario {

    private static final List<Duration> ROUND_TRIPS = List.of(Duration.ofNanos(500_000), Duration.ofMillis(2));
    private static final int EVENTS = 2_000;

    private final RedisServer redis;

    /** Puts the distance before this server. */
    public Network(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "over a network";
    }

    @Override
    public void run(Bench bench) throws Exception {
        for (Duration roundTrip : ROUND_TRIPS) {
            try (Distance distance = Distance.of(roundTrip, redis.port())) {
                Bench far = new Bench(bench.effort(), Stores.redis(distance.port()), bench.report());
                String trip = "round trip " + roundTrip.toNanos() / 1e6 + " ms";
                alone(far, trip);
                handOver(far, trip);
            }
        }
    }

    private static void alone(Bench bench, String trip) throws Exception {
        Workload work = Workload.of(1, 10, Duration.ofMillis(1), bench.effort().slice(200, 300));
        List<String> names = List.of(Cast.OURS, Cast.RSEMAPHORE, Cast.EVALSHA);
        Duel duel = bench.duel(work, names, false, EVENTS, 3, bench.effort().rounds(5, 24));
        String load = trip + ", one thread, hold 1 ms";
        bench.report()
                .row(
                        "pair",
                        load,
                        "x RSemaphore",
                        duel.ratio(
                                Cast.OURS,
                                Cast.RSEMAPHORE,
                                stats -> stats.times().pair()),
                        Mark.atMost(0.6));
        for (String name : names) {
            bench.report()
                    .figure(
                            load,
                            name,
                            "acquire us",
                            duel.figure(name, stats -> stats.times().acquire() / 1000));
        }
    }

    private static void handOver(Bench bench, String trip) throws Exception {
        Workload work = Workload.of(1, 1, Duration.ofMillis(1), bench.effort().slice(1000, 3000))
                .in(4);
        List<String> names = List.of(Cast.OURS, Cast.RSEMAPHORE);
        Duel duel =
                bench.fleetDuel(work, names, Contended.EVENTS, 1, bench.effort().rounds(3), Map.of());
        String load = trip + ", 4 processes x 1 thread, limit 1, hold 1 ms";
        Rows rows = new Rows(bench.report(), duel, load);
        rows.ratio("hand-over between processes", SliceStats::handOver, Mark.atMost(0.6));
        rows.figures(names);
    }
}
