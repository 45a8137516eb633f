package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.RedisNode;
import io.github.distributedpermit.harness.fleet.SentinelStore;
import io.github.distributedpermit.harness.fleet.Signals;
import io.github.distributedpermit.harness.history.Call;
import java.time.Duration;

/** What can be done to a Redis master that Sentinels watch. */
final class SentinelFaults {

    /** A Sentinel needs up to twenty seconds to make a master of before a replica: it asks it every ten seconds. */
    static final Duration DEMOTED = Duration.ofSeconds(60);

    /** How long the network stays parted after another master was made. */
    static final Duration LONGEST_PARTING = Duration.ofSeconds(4);

    private SentinelFaults() {}

    /** A fault and its end. */
    @FunctionalInterface
    private interface Change {
        void happensTo(RedisNode node) throws Exception;
    }

    /** {@code kill -9} of the master; it comes back empty, as a master, once there is another. */
    static boolean kill(Stage stage, SentinelStore store) throws Exception {
        return replaced(
                stage, store, old -> old.server().stop(), old -> old.server().start());
    }

    /** The master stands still, and goes on as soon as there is another. */
    static boolean thaw(Stage stage, SentinelStore store) throws Exception {
        return replaced(stage, store, SentinelFaults::freeze, SentinelFaults::goOn);
    }

    /** The master stands still, and does not go on before every member has got a permit. */
    static boolean frozen(Stage stage, SentinelStore store) throws Exception {
        return servedByAnother(stage, store, SentinelFaults::freeze, SentinelFaults::goOn);
    }

    /** No packet reaches the master's host or comes from it, until every member has got a permit. */
    static boolean vanished(Stage stage, SentinelStore store) throws Exception {
        return servedByAnother(
                stage,
                store,
                old -> old.network().vanish(),
                old -> old.network().heal());
    }

    static void freeze(RedisNode node) {
        Signals.stop(node.server().pid());
    }

    static void goOn(RedisNode node) {
        Signals.resume(node.server().pid());
    }

    private static boolean replaced(Stage stage, SentinelStore store, Change fault, Change end) throws Exception {
        awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        long from = System.nanoTime();
        try {
            stage.outage(() -> {
                fault.happensTo(old);
                hit[0] = stage.someone(Call::isInside);
                awaitPromotion(stage, store, old);
            });
        } finally {
            end.happensTo(old);
        }
        // until the Sentinels have made it a replica it takes claims, from whoever still takes it for the master
        awaitWhole(stage, store);
        stage.excuse(from);
        return hit[0];
    }

    private static boolean servedByAnother(Stage stage, SentinelStore store, Change fault, Change end)
            throws Exception {
        awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        long from = System.nanoTime();
        try {
            stage.outage(() -> {
                fault.happensTo(old);
                hit[0] = stage.someone(Call::isInside) || stage.someone(Call::isWaiting);
                awaitPromotion(stage, store, old);
            });
            stage.serves();
        } finally {
            end.happensTo(old);
        }
        awaitWhole(stage, store);
        stage.excuse(from);
        return hit[0];
    }

    /**
     * Sentinels and replicas can't reach the master, while members can. When there is another master, the connections of
     * some members are reset, so that they ask the Sentinels where to connect; the other connections work.
     */
    static boolean cutOff(Stage stage, SentinelStore store) throws Exception {
        awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        long from = System.nanoTime();
        try {
            stage.outage(() -> {
                old.network().drop(SentinelStore.others());
                hit[0] = stage.someone(Call::isInside);
                awaitPromotion(stage, store, old);
            });
            stage.await("the Sentinels to name the new master", DEMOTED, () -> store.nameAnother(old));
            resetSome(stage, old);
            Stage.during(stage.between(Duration.ZERO, LONGEST_PARTING));
        } finally {
            old.network().heal();
        }
        awaitWhole(stage, store);
        stage.excuse(from);
        return hit[0];
    }

    /** Of those that are still there; members may have left by themselves. */
    static void resetSome(Stage stage, RedisNode old) {
        old.network()
                .reset(source -> !SentinelStore.others().contains(source)
                        && stage.random().nextBoolean());
    }

    /**
     * Likewise, where a master that no replica follows takes no writes: nothing is excused, and members have to find the
     * other master though the one they are connected to answers.
     */
    static boolean cutOffWithMinReplicas(Stage stage, SentinelStore store) throws Exception {
        awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        try {
            stage.outage(() -> {
                old.network().drop(SentinelStore.others());
                hit[0] = stage.someone(Call::isInside);
                stage.await("another master with a replica", DEMOTED, () -> store.canServe(old, 1));
            });
            stage.serves();
        } finally {
            old.network().heal();
        }
        awaitWhole(stage, store);
        return hit[0];
    }

    /** {@code SENTINEL FAILOVER}: both servers work and can be reached, and the old master learns of it seconds later. */
    static boolean failOver(Stage stage, SentinelStore store) throws Exception {
        awaitWhole(stage, store);
        stage.aim(Call::isInside);
        RedisNode old = store.master();
        long from = System.nanoTime();
        if (!store.failOver()) {
            return false;
        }
        boolean hit = stage.someone(Call::isInside);
        awaitPromotion(stage, store, old);
        awaitWhole(stage, store);
        stage.excuse(from);
        return hit;
    }

    static void awaitPromotion(Stage stage, SentinelStore store, RedisNode old) throws InterruptedException {
        stage.await("the fail-over", DEMOTED, () -> store.successorOf(old).isPresent());
    }

    static void awaitWhole(Stage stage, SentinelStore store) throws InterruptedException {
        stage.await("one master that all agree on, with replicas", DEMOTED, store::isWhole);
    }
}
