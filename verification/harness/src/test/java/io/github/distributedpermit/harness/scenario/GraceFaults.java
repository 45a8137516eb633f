package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ClusterStore;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.RedisNode;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.fleet.SentinelStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.member.MemberMain;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** By which Redis servers lose state, or seem to. In contrast to the other faults of Redis nothing is excused. */
final class GraceFaults {

    private static final Duration LONGEST_LAG = Duration.ofSeconds(10);
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    /** A part of the log line about a grace. */
    private static final String GRACE = "may have lost state";

    private GraceFaults() {}

    /** A fault and its end. */
    @FunctionalInterface
    private interface Change {
        void happensTo(RedisNode node) throws Exception;
    }

    /**
     * The server is emptied, every second time once more within a lease. Each {@code FLUSHALL} begins the grace anew, since
     * members may have got permits in between which are lost by it. So the next hit waits until the grace has ended; otherwise
     * permits that were free at the first of several hits stay withheld until a lease after the last one.
     */
    static boolean flushAll(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean twice = stage.random().nextBoolean();
        store.ask(commands -> commands.flushall());
        boolean hit = stage.someone(Call::isInside);
        stage.serves();
        if (twice) {
            Stage.during(stage.between(Duration.ZERO, stage.setup().lease()));
            store.ask(commands -> commands.flushall());
            stage.serves();
        }
        awaitEndOfGrace(stage);
        return hit;
    }

    /** {@code kill -9} of the server, and an empty one in its place. */
    static boolean restartEmpty(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.server().stop();
            hit[0] = stage.someone(Call::isInside);
            store.server().start();
        });
        stage.serves();
        awaitEndOfGrace(stage);
        return hit[0];
    }

    /** {@code kill -9} of the server, which comes back with what it had up to two leases before. */
    static boolean restartOld(Stage stage, RedisStore store) throws Exception {
        store.ask(commands -> commands.save());
        Stage.during(stage.between(Duration.ZERO, stage.setup().lease().multipliedBy(2)));
        return restartEmpty(stage, store);
    }

    /** Another database takes the place of the one that members use, and stays there. */
    static boolean swap(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        store.ask(commands -> commands.swapdb(0, 1));
        boolean hit = stage.someone(Call::isInside);
        store.ask(commands -> {
            commands.select(1);
            return commands.flushdb();
        });
        stage.serves();
        awaitEndOfGrace(stage);
        return hit;
    }

    /** A second loss within a grace is a fault of its own, which begins the grace anew. */
    private static void awaitEndOfGrace(Stage stage) throws InterruptedException {
        Stage.during(stage.setup().lease().plus(A_SECOND));
    }

    /** The replication id changes with the first replica, and again when there has been none for a second. */
    static boolean firstReplica(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        String before = epoch(store);
        try (RedisServer replica = RedisServer.started(
                "--replicaof", "127.0.0.1", Integer.toString(store.server().port()))) {
            stage.await(
                    "a replica",
                    () -> store.ask(commands -> commands.info("replication")).contains("state=online"));
            Stage.during(stage.between(Duration.ZERO, A_SECOND));
            stage.expect(!before.equals(epoch(store)), "the replication id is the same with a replica");
        }
        String with = epoch(store);
        stage.await("the end of the backlog", () -> !with.equals(epoch(store)));
        return thereWasNoGrace(stage);
    }

    private static String epoch(RedisStore store) {
        return store.ask(commands -> commands.info("replication"))
                .lines()
                .filter(line -> line.startsWith("master_replid:"))
                .findFirst()
                .orElse("none");
    }

    /** A member leaves, or is killed, and another one takes its place. */
    static boolean restartMember(Stage stage, RedisStore store) throws Exception {
        boolean hit = stage.random().nextBoolean()
                ? ProcessFaults.terminate(stage, store)
                : ProcessFaults.killHolder(stage, store);
        boolean noGrace = thereWasNoGrace(stage);
        // otherwise a permit of one killed process may pass to the next one that is killed, and be free for two leases
        Stage.during(stage.setup().lease());
        return noGrace && hit;
    }

    /** Nothing was lost, so that nothing may be withheld. */
    private static boolean thereWasNoGrace(Stage stage) {
        for (MemberProcess member : stage.crew().loaded()) {
            stage.expect(
                    !stage.crew().output(member).contains(GRACE), "member %d saw a grace".formatted(member.number()));
        }
        return true;
    }

    private static boolean thereWasAGrace(Stage stage) {
        return stage.crew().loaded().stream()
                .anyMatch(member -> stage.crew().output(member).contains(GRACE));
    }

    /** The replica has not received what the master did last. */
    static boolean lag(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        RedisNode old = store.master();
        SentinelStore.holdReplication(old);
        Stage.during(stage.between(Duration.ZERO, LONGEST_LAG));
        return replaced(
                stage,
                store,
                master -> {
                    master.server().stop();
                    SentinelStore.loseReplication(master);
                },
                master -> master.server().start());
    }

    /** The master leaves in order, which tells its replica all that it did, and yet there is a time when it is not sure. */
    static boolean terminate(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        return replaced(
                stage,
                store,
                master -> {
                    ProcessHandle process =
                            ProcessHandle.of(master.server().pid()).orElseThrow();
                    process.destroy();
                    process.onExit().get(Stage.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                },
                master -> {
                    master.server().stop();
                    master.server().start();
                });
    }

    /** The master stands still, and goes on when there is another, or when that has served every member. */
    static boolean thaw(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        return replaced(stage, store, SentinelFaults::freeze, SentinelFaults::goOn);
    }

    /** The fault ends as soon as there is another master, or when every member was served by that. */
    private static boolean replaced(Stage stage, SentinelStore store, Change fault, Change end) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        boolean soon = stage.random().nextBoolean();
        RedisNode old = store.master();
        boolean[] ended = {false};
        try {
            stage.outage(() -> {
                fault.happensTo(old);
                hit[0] = stage.someone(Call::isInside);
                SentinelFaults.awaitPromotion(stage, store, old);
                if (soon) {
                    ended[0] = true;
                    end.happensTo(old);
                }
                awaitNamed(stage, store, old);
            });
            stage.serves();
        } finally {
            if (!ended[0]) {
                end.happensTo(old);
            }
        }
        SentinelFaults.awaitWhole(stage, store);
        awaitEndOfGrace(stage);
        return hit[0] && thereWasAGrace(stage);
    }

    /** {@code SENTINEL FAILOVER}: both servers work and can be reached. */
    static boolean failOver(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        stage.aim(Call::isInside);
        RedisNode old = store.master();
        if (!store.failOver()) {
            return false;
        }
        boolean hit = stage.someone(Call::isInside);
        SentinelFaults.awaitPromotion(stage, store, old);
        awaitNamed(stage, store, old);
        stage.serves();
        SentinelFaults.awaitWhole(stage, store);
        return hit;
    }

    /** Sentinels send members to the new master up to some seconds after it says that it is the master. */
    private static void awaitNamed(Stage stage, SentinelStore store, RedisNode old) throws InterruptedException {
        stage.await("the Sentinels to name the new master", SentinelFaults.DEMOTED, () -> store.nameAnother(old));
    }

    /** Sentinels and replica can't reach the master, while members can. */
    static boolean cutOff(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        try {
            stage.outage(() -> {
                old.network().drop(SentinelStore.others());
                hit[0] = stage.someone(Call::isInside);
                SentinelFaults.awaitPromotion(stage, store, old);
                awaitNamed(stage, store, old);
            });
            stage.circumstances().serves(System.nanoTime());
            SentinelFaults.resetSome(stage, old);
            Stage.during(stage.between(Duration.ZERO, SentinelFaults.LONGEST_PARTING));
        } finally {
            old.network().heal();
        }
        SentinelFaults.awaitWhole(stage, store);
        return hit[0];
    }

    /** Likewise, where claims to a master that no replica follows do not count. */
    static boolean cutOffFromAll(Stage stage, SentinelStore store) throws Exception {
        SentinelFaults.awaitWhole(stage, store);
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        RedisNode old = store.master();
        try {
            stage.outage(() -> {
                old.network().drop(SentinelStore.others());
                hit[0] = stage.someone(Call::isInside);
                stage.await("another master with a replica", SentinelFaults.DEMOTED, () -> store.canServe(old, 1));
            });
            stage.serves();
        } finally {
            old.network().heal();
        }
        SentinelFaults.awaitWhole(stage, store);
        return hit[0];
    }

    /** A slot with all that is in it moves to another master. */
    static boolean migrate(Stage stage, ClusterStore store) throws Exception {
        int key = stage.random().nextInt(stage.setup().orders().keys());
        int slot = store.slotOf(MemberMain.NAME + "-" + key);
        stage.aim(call -> call.isInside() && call.key() == key);
        int[] moved = {0};
        stage.outage(() -> moved[0] = store.migrate(slot));
        return thereWasNoGrace(stage) && moved[0] > 0;
    }

    /** The master of a key in use is killed, and its replica is promoted. */
    static boolean failOverInCluster(Stage stage, ClusterStore store) throws Exception {
        stage.await("a whole cluster", SentinelFaults.DEMOTED, store::isWhole);
        int key = stage.random().nextInt(stage.setup().orders().keys());
        int slot = store.slotOf(MemberMain.NAME + "-" + key);
        RedisServer old = store.masterOf(slot);
        stage.aim(call -> call.isInside() && call.key() == key);
        boolean[] hit = {false};
        try {
            stage.outage(() -> {
                old.stop();
                hit[0] = stage.someone(call -> call.isInside() && call.key() == key);
                stage.await("the fail-over", SentinelFaults.DEMOTED, () -> store.isServedByAnother(slot, old));
            });
            stage.serves();
        } finally {
            old.start();
        }
        stage.await("a whole cluster", SentinelFaults.DEMOTED, store::isWhole);
        return hit[0] && thereWasAGrace(stage);
    }
}
