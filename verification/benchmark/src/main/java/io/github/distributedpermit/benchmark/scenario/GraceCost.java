package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.ours.ScriptClaims;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the grace after a loss of state costs the server while nothing is lost, beside members that ask for none. */
public final class GraceCost implements Scenario {

    private static final String WITH = "ours";
    private static final String WITHOUT = "ours, grace: false";
    private static final String PAIRS = "takes and returns of one permit";
    private static final String RENEWALS = "renewals of 1000 keys in turn";
    private static final int CLAIMS = 1_000;
    private static final int PIPELINE = 100;
    private static final Duration LEASE = Duration.ofMinutes(10);

    private final RedisServer redis;
    private long sequence;

    /** Measures this server. */
    public GraceCost(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "cost of a grace";
    }

    @Override
    public void run(Bench bench) throws Exception {
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port());
        try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
            Map<String, ScriptClaims> both =
                    Map.of(WITH, new ScriptClaims(connection, true), WITHOUT, new ScriptClaims(connection, false));
            measure(bench, both, PAIRS, "server us of a claim", (name, i) -> claim(name + " pair", i % 2));
            measure(bench, both, RENEWALS, "server us of a renewal", (name, i) -> claim(name + i, 1));
        } finally {
            client.shutdown();
            redis.commands().flushall();
        }
    }

    /** Both take turns, and the order rotates. The first round creates the records. */
    private void measure(Bench bench, Map<String, ScriptClaims> both, String load, String metric, Claims next) {
        Map<String, List<Double>> micros = Map.of(WITH, new ArrayList<>(), WITHOUT, new ArrayList<>());
        List<Double> ratios = new ArrayList<>();
        for (int round = -1; round < bench.effort().rounds(40); round++) {
            for (String name : round % 2 == 0 ? List.of(WITH, WITHOUT) : List.of(WITHOUT, WITH)) {
                double cost = serverMicros(both.get(name), name, next);
                if (round >= 0) {
                    micros.get(name).add(cost);
                }
            }
            if (round >= 0) {
                ratios.add(micros.get(WITH).get(round) / micros.get(WITHOUT).get(round));
            }
        }
        micros.forEach((name, values) -> bench.report().figure(load, name, metric, Quartiles.of(values)));
        bench.report().figure(load, WITH, "x " + WITHOUT, Quartiles.of(ratios));
    }

    private double serverMicros(ScriptClaims claims, String name, Claims next) {
        ScriptCalls before = redis.scriptCalls();
        for (int i = 0; i < CLAIMS; i++) {
            claims.send("member", next.claim(name, i));
            if (i % PIPELINE == PIPELINE - 1) {
                claims.flush();
            }
        }
        ScriptCalls during = redis.scriptCalls().since(before);
        return (double) during.micros() / during.calls();
    }

    private Claim claim(String key, int wanted) {
        return new Claim(key, 10, ++sequence, wanted, wanted, wanted, Duration.ZERO, LEASE, wanted > 0);
    }

    /** The i-th claim of a round. */
    private interface Claims {

        Claim claim(String name, int i);
    }
}
