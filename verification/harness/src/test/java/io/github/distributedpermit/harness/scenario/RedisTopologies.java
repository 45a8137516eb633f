package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ClusterStore;
import io.github.distributedpermit.harness.fleet.PairStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.member.MemberMain;
import java.time.Duration;
import java.util.List;

/** The rows of several Redis servers. */
final class RedisTopologies {

    private static final int LONG = 20;

    private RedisTopologies() {}

    static List<Scenario<?>> all() {
        return List.of(
                new Scenario<>(
                        "redis-subscription-on-replica",
                        "Redis",
                        "master and replica change roles without a loss; claims go to the new master, subscriptions stay at the replica",
                        "only grants that stand are notified: never more than the limit",
                        LONG,
                        Setup.ordinary(Setup.SHORT, Duration.ofMillis(2_500)).withoutGrace(),
                        PairStore::start,
                        RedisTopologies::leaveSubscriptions),
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

    /**
     * The roles of two servers change without a loss. Claims go to the new master from then on, and subscriptions stay at
     * the server that is a replica now: it repeats to them all that is published at the master.
     */
    private static boolean leaveSubscriptions(Stage stage, PairStore store) throws Exception {
        stage.await("a replica", store::isWhole);
        stage.aim(Call::isWaiting);
        boolean[] hit = {false};
        stage.outage(() -> {
            hit[0] = store.handOver();
            stage.await("the hand-over", store::isWhole);
            store.endClaims();
        });
        stage.awaitFlow();
        Stage.during(stage.setup().lease());
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
