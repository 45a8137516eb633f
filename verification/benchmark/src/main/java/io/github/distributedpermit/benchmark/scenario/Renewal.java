package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.ours.OnRedis;
import io.github.distributedpermit.benchmark.ours.OurContender;
import io.github.distributedpermit.benchmark.peers.ReadWriteCalls;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.core.CoreSettings;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** What ten thousand permits cost while nothing happens but renewal, with the default lease of 15 s. */
public final class Renewal implements Scenario {

    private static final int PERMITS = 10_000;
    private static final int AT_ONCE = 250;
    private static final long SECONDS = 10;

    /** Where no call renews, or one does in each third of a lease, less time shows as much. */
    private static final long FEW_SECONDS = 5;

    private static final String ONE_KEY = "10000 permits of one key";
    private static final String MANY_KEYS = "10000 permits of 10000 keys";

    private static final String TOO_LONG_MICROS = "2000";

    private final RedisServer redis;

    /** Measures this server. */
    public Renewal(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "renewal";
    }

    @Override
    public void run(Bench bench) throws Exception {
        long seconds = bench.effort().isFull() ? SECONDS : FEW_SECONDS;
        double idle = busyShare(seconds);
        bench.report().figure("no permits at all", "the server alone", "% of one core", Quartiles.exactly(100 * idle));
        double floor = floorShare();
        bench.report()
                .figure(
                        "10000 hashes, each once per renewal",
                        "floor: clock, read and write",
                        "% of one core",
                        Quartiles.exactly(100 * floor));
        double ofOne = measure(bench, ONE_KEY, seconds, idle, i -> "renewed");
        bench.report().row("renewal", ONE_KEY, "% of one core", Quartiles.exactly(100 * ofOne), Mark.atMost(0.1));
        double ofMany = measure(bench, MANY_KEYS, SECONDS, idle, i -> "renewed-" + i);
        bench.report().figure(MANY_KEYS, "ours", "% of one core", Quartiles.exactly(100 * ofMany));
        bench.report().row("renewal", MANY_KEYS, "x floor", Quartiles.exactly(ofMany / floor), Mark.atMost(2.3));
    }

    /** What the server would spend if each permit were renewed by one script that reads and writes a hash. */
    private double floorShare() {
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port());
        try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ReadWriteCalls calls = new ReadWriteCalls(connection);
            double seconds = 0;
            for (int round = 0; round < 2; round++) { // the first one creates the hashes
                double before = redis.cpuSeconds();
                for (int i = 0; i < PERMITS; i++) {
                    calls.send("floor-" + i);
                    if (i % AT_ONCE == 0) {
                        calls.flush();
                    }
                }
                calls.flush();
                seconds = redis.cpuSeconds() - before;
            }
            return seconds / CoreSettings.DEFAULTS.lease().dividedBy(3).toSeconds();
        } finally {
            client.shutdown();
        }
    }

    /** The share of one core that the server spends. */
    private double measure(Bench bench, String load, long seconds, double idle, IntFunction<String> key)
            throws Exception {
        try (OurContender ours = OnRedis.contender(redis.port(), CoreSettings.DEFAULTS)) {
            NamedPermits permits = ours.permits(PERMITS);
            List<CompletableFuture<Permit>> held = new ArrayList<>();
            for (int i = 0; i < PERMITS; i++) {
                held.add(permits.acquireAsync(PermitRequest.of(key.apply(i))));
                if (i % AT_ONCE == 0) {
                    held.get(i).get(60, TimeUnit.SECONDS);
                }
            }
            CompletableFuture.allOf(held.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            redis.commands().configSet("slowlog-log-slower-than", TOO_LONG_MICROS);
            redis.commands().slowlogReset();
            ScriptCalls before = redis.scriptCalls();
            double share = busyShare(seconds) - idle;
            ScriptCalls during = redis.scriptCalls().since(before);
            long slow = redis.commands().slowlogLen();
            long lost = held.stream().filter(permit -> !permit.join().isHeld()).count();
            bench.report().row("calls above 2 ms", load, "calls", Quartiles.exactly(slow), Mark.atMost(0));
            bench.report().row("permits lost meanwhile", load, "permits", Quartiles.exactly(lost), Mark.atMost(0));
            bench.report()
                    .figure(
                            load,
                            "ours",
                            "script calls per second",
                            Quartiles.exactly((double) during.calls() / seconds));
            bench.report()
                    .figure(load, "ours", "script % of one core", Quartiles.exactly(during.micros() / 1e4 / seconds));
            held.forEach(permit -> permit.join().release());
            return share;
        }
    }

    /** Share of one core that the server is busy. */
    private double busyShare(long seconds) throws InterruptedException {
        double before = redis.cpuSeconds();
        long start = System.nanoTime();
        TimeUnit.SECONDS.sleep(seconds);
        return (redis.cpuSeconds() - before) / ((System.nanoTime() - start) / 1e9);
    }
}
