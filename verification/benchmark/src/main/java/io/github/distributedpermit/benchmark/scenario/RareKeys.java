package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.ours.ScriptClaims;
import io.github.distributedpermit.benchmark.peers.RedissonContender;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What keys cost the server that are used now and then, such as one for each tenant, beside a key that is used all the time:
 * keys that were not used before, and keys that are used every 20 s, when the bounds of the last lease and then of the tombstone
 * have passed.
 */
public final class RareKeys implements Scenario {

    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final Duration SPACING = Duration.ofSeconds(20);
    private static final int SLICES = 20;
    private static final int PAIRS = 50;
    private static final int LIMIT = 10;

    private static final String USED = "a key in constant use";
    private static final String NEW = "a key not used before";
    private static final String SPACED = "a key used every 20 s";
    private static final String OURS = "ours";
    private static final String THEIRS = "RSemaphore";

    private final RedisServer redis;
    private long sequence;

    /** Measures this server. */
    public RareKeys(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "keys used now and then";
    }

    @Override
    public void run(Bench bench) throws Exception {
        redis.commands().flushall();
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port());
        try (var connection = client.connect(ByteArrayCodec.INSTANCE);
                Contender redisson = RedissonContender.semaphore(List.of(redis.port()))) {
            ScriptClaims claims = new ScriptClaims(connection, true);
            Map<String, List<Double>> ours = new LinkedHashMap<>();
            Map<String, List<Double>> theirs = new LinkedHashMap<>();
            int cycles = bench.effort().rounds(2);
            for (int cycle = 0; cycle <= cycles; cycle++) {
                long start = System.nanoTime();
                for (int slice = 0; slice < SLICES; slice++) {
                    measure(claims, "-" + slice + "-", "-" + cycle + "-" + slice + "-", ours);
                    measure(redisson, "-" + cycle + "-" + slice + "-", theirs);
                }
                if (cycle == 0) { // creates the keys, on a server that may have started just now
                    ours.clear();
                    theirs.clear();
                }
                if (cycle < cycles) {
                    TimeUnit.NANOSECONDS.sleep(SPACING.toNanos() - (System.nanoTime() - start));
                }
            }
            report(bench, ours, theirs);
        } finally {
            client.shutdown();
            redis.commands().flushall();
        }
    }

    private void measure(ScriptClaims claims, String slice, String fresh, Map<String, List<Double>> found)
            throws Exception {
        add(found, USED, micros(i -> pair(claims, "used"), claims::flush));
        add(found, NEW, micros(i -> pair(claims, "new" + fresh + i), claims::flush));
        add(found, SPACED, micros(i -> pair(claims, "spaced" + slice + i), claims::flush));
    }

    private void measure(Contender redisson, String fresh, Map<String, List<Double>> found) throws Exception {
        Gate used = redisson.gate("used", LIMIT);
        add(found, USED, micros(i -> used.leave(used.enter()), () -> {}));
        add(
                found,
                NEW,
                micros(
                        i -> {
                            Gate gate = redisson.gate("new" + fresh + i, LIMIT);
                            gate.leave(gate.enter());
                        },
                        () -> {}));
    }

    private void pair(ScriptClaims claims, String key) {
        for (int wanted = 1; wanted >= 0; wanted--) {
            claims.send(
                    "member",
                    Claim.of(key, ++sequence, LEASE).limit(LIMIT).wanted(wanted).queued(wanted));
        }
    }

    /** How long the server executes scripts for each pair. */
    private double micros(Pair pair, Runnable end) throws Exception {
        ScriptCalls before = redis.scriptCalls();
        for (int i = 0; i < PAIRS; i++) {
            pair.run(i);
        }
        end.run();
        return (double) redis.scriptCalls().since(before).micros() / PAIRS;
    }

    private static void add(Map<String, List<Double>> found, String kind, double value) {
        found.computeIfAbsent(kind, absent -> new ArrayList<>()).add(value);
    }

    private static void report(Bench bench, Map<String, List<Double>> ours, Map<String, List<Double>> theirs) {
        row(bench, NEW, ours, Mark.atMost(2.2));
        row(bench, SPACED, ours, Mark.atMost(1.2));
        ours.forEach((kind, found) -> bench.report().figure(kind, OURS, "server us of a pair", Quartiles.of(found)));
        theirs.forEach(
                (kind, found) -> bench.report().figure(kind, THEIRS, "server us of a pair", Quartiles.of(found)));
    }

    private static void row(Bench bench, String kind, Map<String, List<Double>> ours, Mark mark) {
        List<Double> used = ours.getOrDefault(USED, List.of());
        List<Double> rare = ours.getOrDefault(kind, List.of());
        double[] ratios = new double[used.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = rare.get(i) / used.get(i);
        }
        bench.report().row("server time of a pair", kind, "x " + USED, Quartiles.of(ratios), mark);
    }

    /** The i-th pair of a slice. */
    private interface Pair {

        void run(int i) throws Exception;
    }
}
