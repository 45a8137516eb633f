package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.ClusterStore;
import io.github.distributedpermit.harness.fleet.SentinelStore;
import io.github.distributedpermit.harness.fleet.Signals;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.member.MemberMain;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** The rows of several Redis servers. */
final class RedisTopologies {

    private static final int SLOW = 5;
    private static final int LONG = 20;

    private RedisTopologies() {}

    static List<Scenario<?>> all() {
        return List.of(
                new Scenario<>(
                        "redis-sentinel-failover",
                        "Redis",
                        "`kill -9` of the master; Sentinel makes its replica the master",
                        "service is back in seconds; named exception: over the limit for at most a lease",
                        SLOW,
                        Setup.ordinary(Setup.SHORT, Duration.ofMillis(3_500)).withLongHolds(),
                        SentinelStore::start,
                        RedisTopologies::failOver),
                new Scenario<>(
                        "redis-sentinel-thaw",
                        "Redis",
                        "`SIGSTOP` of the master until Sentinel has made its replica the master, then `SIGCONT`",
                        "service is back in seconds; named exception: over the limit for at most a lease",
                        SLOW,
                        Setup.ordinary(Setup.SHORT, Duration.ofMillis(3_500)).withLongHolds(),
                        SentinelStore::start,
                        RedisTopologies::freeze),
                new Scenario<>(
                        "redis-cluster-migration",
                        "Redis",
                        "the hash slot of a key in use moves to another master, part by part",
                        "never more than the limit, no permit is lost",
                        LONG,
                        Setup.ordinary(Setup.HOUR, Duration.ofMillis(3_500)),
                        ClusterStore::start,
                        RedisTopologies::migrate));
    }

    private static boolean failOver(Stage stage, SentinelStore store) throws Exception {
        return failOver(stage, store, RedisServer::stop, RedisServer::start);
    }

    private static boolean freeze(Stage stage, SentinelStore store) throws Exception {
        return failOver(stage, store, old -> Signals.stop(old.pid()), old -> Signals.resume(old.pid()));
    }

    private static boolean failOver(
            Stage stage, SentinelStore store, Consumer<RedisServer> strike, Consumer<RedisServer> revive)
            throws Exception {
        stage.await("a replica", store::isWhole);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisServer old = store.master();
        long from = System.nanoTime();
        stage.outage(() -> {
            strike.accept(old);
            hit[0] = stage.someone(Call::isInside);
            stage.await("the fail-over", () -> store.hasLeft(old));
        });
        revive.accept(old);
        // until the Sentinel has made it a replica it takes claims, from whoever still takes it for the master
        stage.await("the old master to follow the new one", store::isWhole);
        stage.circumstances()
                .excuse(new Span(from, System.nanoTime() + stage.setup().lease().toNanos()));
        return hit[0];
    }

    private static boolean migrate(Stage stage, ClusterStore store) throws Exception {
        int key = stage.random().nextInt(stage.setup().orders().keys());
        int slot = store.slotOf(MemberMain.NAME + "-" + key);
        stage.aim(call -> call.isInside() && call.key() == key);
        int[] moved = {0};
        stage.outage(() -> moved[0] = store.migrate(slot));
        return moved[0] > 0;
    }
}
