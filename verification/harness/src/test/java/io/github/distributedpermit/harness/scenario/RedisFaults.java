package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.fleet.Signals;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.Ending;
import io.lettuce.core.KillArgs;
import java.time.Duration;

/** What can be done to one Redis server, or between it and the members. */
final class RedisFaults {

    private static final Duration MOMENT = Duration.ofMillis(500);

    private static final Duration A_RECHECK = Duration.ofMillis(700);

    private RedisFaults() {}

    /** {@code kill -9} of the server while calls hold, and an empty one in its place. */
    static boolean restartEmpty(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        long from = System.nanoTime();
        stage.outage(() -> {
            store.server().stop();
            hit[0] = stage.someone(Call::isInside);
            store.server().start();
        });
        forgets(stage, from);
        return hit[0];
    }

    /** The server forgets everything while calls hold. */
    static boolean flushAll(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        long from = System.nanoTime();
        store.ask(commands -> commands.flushall());
        boolean hit = stage.someone(Call::isInside);
        forgets(stage, from);
        return hit;
    }

    /** A named exception: those who held before hold on for at most one lease. */
    private static void forgets(Stage stage, long from) {
        stage.circumstances()
                .excuse(new Span(from, System.nanoTime() + stage.setup().lease().toNanos()));
    }

    /** The server forgets the scripts. */
    static boolean scriptFlush(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isWaiting);
        return store.ask(commands -> commands.scriptFlush()).equals("OK");
    }

    /** The server stands still for less than the lease while calls hold. */
    static boolean stopShort(Stage stage, RedisStore store) throws Exception {
        Duration lease = stage.setup().lease();
        return stop(
                stage,
                store,
                stage.between(lease.dividedBy(5), lease.multipliedBy(4).dividedBy(5)));
    }

    /** The server stands still for longer than the lease while calls hold. */
    static boolean stopLong(Stage stage, RedisStore store) throws Exception {
        Duration lease = stage.setup().lease();
        return stop(stage, store, stage.between(lease.multipliedBy(6).dividedBy(5), lease.multipliedBy(2)));
    }

    private static boolean stop(Stage stage, RedisStore store, Duration time) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        long pid = store.server().pid();
        stage.outage(() -> {
            Signals.stop(pid);
            hit[0] = stage.someone(Call::isInside);
            try {
                Stage.during(time);
            } finally {
                Signals.resume(pid);
            }
        });
        return hit[0];
    }

    /** The connections over which claims go are cut while calls wait. */
    static boolean killNormal(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isWaiting);
        return store.ask(commands ->
                        commands.clientKill(KillArgs.Builder.typeNormal().skipme()))
                > 0;
    }

    /** The connections over which notices come are cut while calls wait. */
    static boolean killPubSub(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isWaiting);
        boolean hit = store.ask(commands -> commands.clientKill(KillArgs.Builder.typePubsub())) > 0;
        Stage.during(A_RECHECK); // or a call might lose two notices in a row
        return hit;
    }

    /** The server answers no client for a while, then everything at once. */
    static boolean pause(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        Duration time = stage.between(Duration.ofMillis(100), Duration.ofMillis(1500));
        stage.outage(() -> {
            store.ask(commands -> commands.clientPause(time.toMillis()));
            hit[0] = stage.someone(Call::isInside);
            Stage.during(time);
        });
        return hit[0];
    }

    /** The server has no memory for a moment: returns go through, grants are refused. */
    static boolean outOfMemory(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        int from = stage.log().size();
        stage.outage(() -> {
            store.ask(commands -> commands.configSet("maxmemory", "1"));
            Stage.during(MOMENT);
            store.ask(commands -> commands.configSet("maxmemory", "0"));
        });
        return stage.log().calls(from).stream().anyMatch(call -> call.ending() == Ending.FAILED);
    }

    /** A member starts at a server that may evict permits. */
    static boolean warnsOfEviction(Stage stage, RedisStore store) throws Exception {
        var member = stage.crew().start();
        stage.await("the warning", () -> stage.crew().output(member).contains("LIMITS ARE NOT SAFE"));
        member.quit();
        return true;
    }
}
