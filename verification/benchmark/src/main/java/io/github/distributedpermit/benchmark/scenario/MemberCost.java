package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.ours.ScriptClaims;
import io.github.distributedpermit.benchmark.peers.ReadWriteCalls;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What a claim costs the server when a key has few or many members, and the store many keys. */
public final class MemberCost implements Scenario {

    private static final int[] MEMBERS = {10, 100, 1000, 10_000};
    private static final int OTHER_KEYS = 10_000;
    private static final int PIPELINE = 500;
    /** Few at a time: a round that nothing disturbed is rather short. */
    private static final int CLAIMS = 200;

    private static final Duration LEASE = Duration.ofMinutes(10);

    private final RedisServer redis;
    private long sequence;

    /** Measures this server. */
    public MemberCost(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "cost of a claim by members";
    }

    @Override
    public void run(Bench bench) throws Exception {
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port());
        try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
            ScriptClaims claims = new ScriptClaims(connection, true);
            ReadWriteCalls floor = new ReadWriteCalls(connection);
            for (int key = 0; key < OTHER_KEYS; key++) {
                claim(claims, "other-" + key, "m0", 1, 1);
                pause(claims, key);
            }
            for (int members : MEMBERS) {
                for (int member = 0; member < members; member++) {
                    claim(claims, "of-" + members, "m" + member, members + 1, 1);
                    pause(claims, member);
                }
            }
            measure(bench, claims, floor);
        } finally {
            client.shutdown();
            redis.commands().flushall();
        }
    }

    private void measure(Bench bench, ScriptClaims claims, ReadWriteCalls floor) {
        SplittableRandom random = new SplittableRandom(1);
        List<List<Double>> micros = new ArrayList<>();
        List<List<Double>> timesFloor = new ArrayList<>();
        List<Double> floors = new ArrayList<>();
        List<Double> growth = new ArrayList<>();
        for (int ignored : MEMBERS) {
            micros.add(new ArrayList<>());
            timesFloor.add(new ArrayList<>());
        }
        int rounds = bench.effort().rounds(100);
        for (int round = -1; round < rounds; round++) {
            double least = serverMicros(floor);
            if (round >= 0) {
                floors.add(least);
            }
            for (int i = 0; i < MEMBERS.length; i++) {
                double cost = serverMicros(claims, MEMBERS[i], random);
                if (round >= 0) {
                    micros.get(i).add(cost);
                    timesFloor.get(i).add(cost / least);
                }
            }
            if (round >= 0) {
                growth.add(micros.get(MEMBERS.length - 1).get(round)
                        / micros.get(0).get(round));
            }
        }
        for (int i = 0; i < MEMBERS.length; i++) {
            String load = load(MEMBERS[i]);
            bench.report()
                    .row("server time of a claim", load, "x floor", Quartiles.of(timesFloor.get(i)), Mark.atMost(2.6));
            bench.report().figure(load, "ours", "server us of a claim", Quartiles.of(micros.get(i)));
        }
        bench.report().figure("one hash", "floor: clock, read and write", "server us of a call", Quartiles.of(floors));
        bench.report()
                .row(
                        "growth of that from 10 to 10000 members",
                        load(10_000),
                        "x",
                        Quartiles.of(growth),
                        Mark.atMost(1.1));
    }

    /** Half of the claims take or return the one free permit, the other half confirm what a member has. */
    private double serverMicros(ScriptClaims claims, int members, SplittableRandom random) {
        ScriptCalls before = redis.scriptCalls();
        for (int i = 0; i < CLAIMS; i++) {
            boolean newcomer = i % 2 == 0;
            String member = newcomer ? "newcomer" : "m" + random.nextInt(members);
            claim(claims, "of-" + members, member, members + 1, newcomer && i % 4 == 0 ? 0 : 1);
            pause(claims, i);
        }
        claims.flush();
        ScriptCalls during = redis.scriptCalls().since(before);
        return (double) during.micros() / during.calls();
    }

    private double serverMicros(ReadWriteCalls floor) {
        ScriptCalls before = redis.scriptCalls();
        for (int i = 0; i < CLAIMS; i++) {
            floor.send("floor");
        }
        floor.flush();
        ScriptCalls during = redis.scriptCalls().since(before);
        return (double) during.micros() / during.calls();
    }

    private void claim(ScriptClaims claims, String key, String member, int limit, int wanted) {
        claims.send(
                member,
                Claim.of(key, ++sequence, LEASE).limit(limit).wanted(wanted).queued(wanted));
    }

    private static void pause(ScriptClaims claims, int sent) {
        if (sent % PIPELINE == PIPELINE - 1) {
            claims.flush();
        }
    }

    private static String load(int members) {
        return "%d members of the key, %d other keys".formatted(members, OTHER_KEYS);
    }
}
