package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.MigrateArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Three Redis masters that share the hash slots, perhaps with a replica each. */
public final class ClusterStore implements Store {

    private static final int BATCH = 100;
    private static final int PATIENCE_MILLIS = 1_000;

    private final RedisCluster cluster;

    private ClusterStore(RedisCluster cluster) {
        this.cluster = cluster;
    }

    /** Starts them. */
    public static ClusterStore start() {
        return new ClusterStore(RedisCluster.start());
    }

    /** Starts them with a replica each, which is promoted when the master has not answered for so long. */
    public static ClusterStore startWithReplicas(Duration nodeTimeout) {
        return new ClusterStore(RedisCluster.startWithReplicas(nodeTimeout));
    }

    /** Whether all nodes know each other, no slot is without a master, and all replicas have what their masters have. */
    public boolean isWhole() {
        return cluster.isWhole();
    }

    /** The node that serves the slot. */
    public RedisServer masterOf(int slot) {
        return node(ownerOf(slot));
    }

    /** Whether another node serves the slot that the other nodes count as one of their masters. */
    public boolean isServedByAnother(int slot, RedisServer old) {
        return cluster.nodes().stream()
                .filter(node -> node != old)
                .anyMatch(node -> InlineCommand.ask(node.port(), "CLUSTER INFO").contains("cluster_state:ok")
                        && hasSlot(lineOf(InlineCommand.ask(node.port(), "CLUSTER NODES")), slot));
    }

    private static String lineOf(String nodes) {
        return nodes.lines().filter(line -> line.contains("myself")).collect(Collectors.joining());
    }

    /** The slot of all that belongs to a key of permits whose name needs no encoding. */
    public int slotOf(String key) {
        return node(0).ask(commands -> commands.clusterKeyslot("distributed-permit:{" + key + "}:state"))
                .intValue();
    }

    private RedisServer node(int number) {
        return cluster.nodes().get(number);
    }

    private static String idOf(RedisServer node) {
        return node.ask(commands -> commands.clusterMyId());
    }

    /** Which node has the slot. */
    public int ownerOf(int slot) {
        for (int node = 0; node < cluster.nodes().size(); node++) {
            String mine = lineOf(node(node).ask(commands -> commands.clusterNodes()));
            if (hasSlot(mine, slot)) {
                return node;
            }
        }
        throw new IllegalStateException("No node serves slot " + slot);
    }

    private static boolean hasSlot(String line, int slot) {
        String[] words = line.split(" ");
        for (int i = 8; i < words.length; i++) {
            String[] range = words[i].split("-");
            if (!words[i].startsWith("[")
                    && Integer.parseInt(range[0]) <= slot
                    && slot <= Integer.parseInt(range[range.length - 1])) {
                return true;
            }
        }
        return false;
    }

    /** Moves a slot with all that is in it to the next node, while it is in use. Returns how many keys it moved. */
    public int migrate(int slot) {
        int from = ownerOf(slot);
        int to = (from + 1) % cluster.nodes().size();
        RedisServer source = node(from);
        RedisServer target = node(to);
        String sourceId = idOf(source);
        String targetId = idOf(target);
        target.ask(commands -> commands.clusterSetSlotImporting(slot, sourceId));
        source.ask(commands -> commands.clusterSetSlotMigrating(slot, targetId));
        int moved = 0;
        List<String> keys = source.ask(commands -> commands.clusterGetKeysInSlot(slot, BATCH));
        while (!keys.isEmpty()) {
            for (String key : keys) { // one by one, so that calls meet a slot of which half is here and half is there
                source.ask(commands ->
                        commands.migrate("127.0.0.1", target.port(), 0, PATIENCE_MILLIS, MigrateArgs.Builder.key(key)));
                moved++;
            }
            keys = source.ask(commands -> commands.clusterGetKeysInSlot(slot, BATCH));
        }
        target.ask(commands -> commands.clusterSetSlotNode(slot, targetId));
        cluster.nodes().stream()
                .filter(node -> node != target)
                .forEach(node -> node.ask(commands -> commands.clusterSetSlotNode(slot, targetId)));
        return moved;
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--distributed-permit.backend=redis",
                "--spring.cloud.consul.enabled=false",
                "--spring.data.redis.cluster.nodes="
                        + cluster.nodes().stream()
                                .map(node -> "127.0.0.1:" + node.port())
                                .collect(Collectors.joining(",")));
    }

    @Override
    public String version() {
        return node(0).ask(RedisStore::version) + " Cluster";
    }

    @Override
    public List<String> residue() {
        List<String> left = new ArrayList<>();
        cluster.nodes().stream()
                .filter(node -> !node.ask(RedisStore::isReplica))
                .forEach(node -> left.addAll(node.ask(RedisStore::residue)));
        return left;
    }

    @Override
    public void close() {
        cluster.close();
    }
}
