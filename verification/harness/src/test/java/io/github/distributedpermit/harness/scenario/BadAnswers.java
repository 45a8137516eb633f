package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.Ending;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;

/** A server that answers, but not what it was asked for; each blow in another way. */
final class BadAnswers {

    private static final Duration LEAST = Duration.ofMillis(100);
    private static final Duration MOST = Duration.ofMillis(900);
    private static final String UNUSED_PORT = "1"; // no server listens on it

    private final List<Blow> blows =
            List.of(BadAnswers::readOnly, BadAnswers::masterDown, BadAnswers::noReplicas, BadAnswers::busy);
    private int next;

    /** For a moment. */
    @FunctionalInterface
    private interface Blow {
        void strike(RedisStore store, Duration time) throws Exception;
    }

    /** Strikes while calls hold; the server's own count of errors says whether it affected a client. */
    boolean strike(Stage stage, RedisStore store) throws Exception {
        Blow blow = blows.get(next++ % blows.size());
        Duration time = stage.between(LEAST, MOST);
        stage.aim(Call::isInside);
        int from = stage.log().size();
        long errors = errors(store);
        stage.outage(() -> blow.strike(store, time));
        boolean hit = errors(store) > errors;
        stage.awaitFlow();
        stage.log().calls(from).stream()
                .filter(call -> call.kind() == CallKind.WAIT && call.ending() == Ending.FAILED)
                .filter(call -> call.ended() - call.asked() < call.timeout())
                .forEach(call -> stage.expect(false, "a call failed that had time to wait: " + call));
        return hit;
    }

    private static long errors(RedisStore store) {
        return store.ask(commands -> commands.info("errorstats"))
                .lines()
                .filter(line -> line.contains(":count=") && !line.contains("NOSCRIPT"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
                .sum();
    }

    /** READONLY: it is configured as the replica of a server that does not exist, and keeps its data. */
    private static void readOnly(RedisStore store, Duration time) throws Exception {
        store.ask(commands -> commands.replicaof("127.0.0.1", Integer.parseInt(UNUSED_PORT)));
        Stage.during(time);
        store.ask(commands -> commands.replicaofNoOne());
    }

    /** MASTERDOWN: likewise, and does not show what it has. */
    private static void masterDown(RedisStore store, Duration time) throws Exception {
        store.ask(commands -> commands.configSet("replica-serve-stale-data", "no"));
        readOnly(store, time);
        store.ask(commands -> commands.configSet("replica-serve-stale-data", "yes"));
    }

    /** NOREPLICAS: it has none and must have one. */
    private static void noReplicas(RedisStore store, Duration time) throws Exception {
        store.ask(commands -> commands.configSet("min-replicas-to-write", "1"));
        Stage.during(time);
        store.ask(commands -> commands.configSet("min-replicas-to-write", "0"));
    }

    /** BUSY: a script of another client does not end. */
    private static void busy(RedisStore store, Duration time) throws Exception {
        store.ask(commands -> commands.configSet("lua-time-limit", "5"));
        RedisClient client = store.server().client();
        try (StatefulRedisConnection<String, String> script = client.connect();
                StatefulRedisConnection<String, String> killer = client.connect()) {
            var endless = script.async().eval("while true do end", ScriptOutputType.STATUS);
            Stage.during(time);
            killer.sync().scriptKill();
            endless.toCompletableFuture().exceptionally(killed -> null).join();
        } finally {
            client.shutdown(Duration.ZERO, LEAST);
        }
    }
}
