package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.ZooKeeperStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.scenario.Stage.Target;
import java.time.Duration;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.zookeeper.KeeperException;

/** What can be done to ZooKeeper. */
final class ZooKeeperFaults {

    private static final Duration SOME_TIME = Duration.ofSeconds(1);

    /** When a dead session has ended for certain: a server looks once in a tick. */
    private static final Duration ENDED = ZooKeeperStore.SESSION.plus(SOME_TIME);

    private ZooKeeperFaults() {}

    /** The next blow comes when the dead session has ended: till then a permit may go from one dead process to another. */
    static boolean killHolder(Stage stage, ZooKeeperStore store) throws Exception {
        boolean hit = ProcessFaults.killHolder(stage, store);
        Stage.during(ENDED);
        return hit;
    }

    /** Likewise. */
    static boolean killWaiter(Stage stage, ZooKeeperStore store) throws Exception {
        boolean hit = ProcessFaults.killWaiter(stage, store);
        Stage.during(ENDED);
        return hit;
    }

    /** An operator ends the session of a process that holds: a named exception until it is notified. */
    static boolean killSession(Stage stage, ZooKeeperStore store) throws Exception {
        Target target = stage.aim(Call::isInside);
        long from = System.nanoTime();
        String answer = target.member().ask("kill-session");
        excuse(stage, from, ZooKeeperStore.SESSION); // it is notified when it has connected again
        return answer.equals("killed");
    }

    /** An operator deletes the node of a process that uses a key: likewise. */
    static boolean deleteNode(Stage stage, ZooKeeperStore store) throws Exception {
        stage.aim(Call::isInside);
        List<String> nodes =
                store.residue().stream().filter(node -> node.contains("/m-")).toList();
        if (nodes.isEmpty()) {
            return false;
        }
        long from = System.nanoTime();
        try {
            store.client().delete().forPath(nodes.get(stage.random().nextInt(nodes.size())));
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
        excuse(stage, from, SOME_TIME);
        return true;
    }

    private static void excuse(Stage stage, long from, Duration after) {
        stage.circumstances().excuse(new Span(from, System.nanoTime() + after.toNanos()));
    }

    /** The one server is killed while calls hold, and comes back with its log. */
    static boolean restart(Stage stage, ZooKeeperStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        InstanceSpec server = store.servers().get(0);
        stage.outage(() -> {
            store.stop(server);
            hit[0] = stage.someone(Call::isInside);
            store.start(server);
        });
        return hit[0];
    }

    /** Two of three servers are killed while calls hold, and come back after a while. */
    static boolean loseQuorum(Stage stage, ZooKeeperStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        List<InstanceSpec> lost = store.servers().subList(0, 2);
        Duration time = stage.between(Duration.ofMillis(500), ZooKeeperStore.SESSION.multipliedBy(2));
        stage.outage(() -> {
            for (InstanceSpec server : lost) {
                store.stop(server);
            }
            hit[0] = stage.someone(Call::isInside);
            Stage.during(time);
            for (InstanceSpec server : lost) {
                store.start(server);
            }
            store.client().getChildren().forPath("/"); // answered once there is a quorum again
        });
        return hit[0];
    }

    /** Likewise, until the one that is left serves reads, and a second longer. */
    static boolean serveReadsOnly(Stage stage, ZooKeeperStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        List<InstanceSpec> lost = store.servers().subList(0, 2);
        InstanceSpec left = store.servers().get(2);
        Duration time = stage.between(SOME_TIME.dividedBy(2), SOME_TIME.multipliedBy(2));
        stage.outage(() -> {
            for (InstanceSpec server : lost) {
                store.stop(server);
            }
            stage.await("a server that serves reads only", () -> store.isReadOnly(left));
            hit[0] = stage.someone(Call::isInside) || stage.someone(Call::isWaiting);
            Stage.during(time);
            for (InstanceSpec server : lost) {
                store.start(server);
            }
            stage.await("a quorum", () -> !store.isReadOnly(left));
            store.client().getChildren().forPath("/");
        });
        return hit[0];
    }
}
