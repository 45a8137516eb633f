package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
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

/** What the grace after a loss of state costs the server while nothing is lost, beside members that ask for none. */
public final class GraceCost implements Scenario {

    private static final String WITH = Cast.OURS;
    private static final String WITHOUT = Cast.OURS_WITHOUT_GRACE;
    private static final String PAIRS = "takes and returns of one permit";
    private static final String RENEWALS = "renewals of 1000 keys in turn";
    private static final int CLAIMS = 1_000;
    private static final int PIPELINE = 100;
    private static final Duration LEASE = Duration.ofSeconds(15);

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
            ScriptClaims with = new ScriptClaims(connection, true);
            ScriptClaims without = new ScriptClaims(connection, false);
            measure(bench, with, without, PAIRS, "server us of a claim", (name, i) -> claim(name + " pair", i % 2));
            measure(bench, with, without, RENEWALS, "server us of a renewal", (name, i) -> claim(name + i, 1));
        } finally {
            client.shutdown();
            redis.commands().flushall();
        }
    }

    /** Both take turns, and the order rotates. The first round creates the records. */
    private void measure(
            Bench bench, ScriptClaims with, ScriptClaims without, String load, String metric, Claims next) {
        List<Double> graced = new ArrayList<>();
        List<Double> plain = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = -1; round < bench.effort().rounds(40); round++) {
            boolean first = round % 2 == 0;
            double before = first ? serverMicros(with, WITH, next) : 0;
            double other = serverMicros(without, WITHOUT, next);
            double cost = first ? before : serverMicros(with, WITH, next);
            if (round >= 0) {
                graced.add(cost);
                plain.add(other);
                ratios.add(cost / other);
            }
        }
        bench.report().figure(load, WITH, metric, Quartiles.of(graced));
        bench.report().figure(load, WITHOUT, metric, Quartiles.of(plain));
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
        return Claim.of(key, ++sequence, LEASE).limit(10).wanted(wanted).queued(wanted);
    }

    /** The i-th claim of a round. */
    private interface Claims {

        Claim claim(String name, int i);
    }
}
