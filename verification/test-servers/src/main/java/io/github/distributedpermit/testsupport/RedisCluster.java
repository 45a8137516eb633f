package io.github.distributedpermit.testsupport;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.MigrateArgs;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Three masters that share the hash slots, perhaps with a replica each. */
public final class RedisCluster implements AutoCloseable {

    private static final int NODES = 3;
    private static final int SLOTS = 16_384;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<RedisServer> nodes;

    private RedisCluster(List<RedisServer> nodes) {
        this.nodes = nodes;
    }

    /** Starts them and waits until all agree. */
    public static RedisCluster start() {
        RedisCluster cluster = new RedisCluster(
                Stream.generate(() -> RedisServer.started("--cluster-enabled", "yes", "--cluster-node-timeout", "5000"))
                        .limit(NODES)
                        .toList());
        cluster.join();
        return cluster;
    }

    /**
     * Starts them with a replica each, and waits until all agree.
     *
     * @param nodeTimeout {@code cluster-node-timeout}, after which a master is replaced
     */
    public static RedisCluster startWithReplicas(Duration nodeTimeout) {
        RedisCluster cluster = new RedisCluster(Stream.generate(() -> RedisServer.started(
                        "--cluster-enabled",
                        "yes",
                        "--cluster-node-timeout",
                        Long.toString(nodeTimeout.toMillis()),
                        "--repl-diskless-sync-delay",
                        "0"))
                .limit(2L * NODES)
                .toList());
        cluster.join();
        cluster.replicate();
        return cluster;
    }

    private void join() {
        for (int i = 0; i < nodes.size(); i++) {
            if (i < NODES) {
                int[] slots = IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES)
                        .toArray();
                nodes.get(i).ask(commands -> commands.clusterAddSlots(slots));
            }
            if (i > 0) {
                nodes.get(i)
                        .ask(commands ->
                                commands.clusterMeet("127.0.0.1", nodes.get(0).port()));
            }
        }
        await().atMost(PATIENCE).until(() -> nodes.stream().allMatch(this::isWhole));
    }

    private void replicate() {
        for (int i = NODES; i < nodes.size(); i++) {
            String master = nodes.get(i - NODES).ask(commands -> commands.clusterMyId());
            nodes.get(i).ask(commands -> commands.clusterReplicate(master));
        }
        await().atMost(PATIENCE).until(this::isWhole);
    }

    /** Whether all nodes know each other, no slot is without a master, and all replicas have what their masters have. */
    public boolean isWhole() {
        try {
            return nodes.stream().allMatch(this::isWhole)
                    && nodes.stream().filter(RedisCluster::isInSync).count() == nodes.size() - NODES;
        } catch (RuntimeException e) {
            return false; // a node does not answer
        }
    }

    private static boolean isInSync(RedisServer node) {
        return node.ask(commands -> commands.info("replication").contains("master_link_status:up"));
    }

    private boolean isWhole(RedisServer node) {
        return node.ask(commands -> commands.clusterInfo().contains("cluster_state:ok")
                && commands.clusterInfo().contains("cluster_known_nodes:" + nodes.size()));
    }

    /** The nodes, the first masters in the order of their slots, then their replicas, if there are any. */
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** A started connection factory for it; the caller destroys it. */
    public LettuceConnectionFactory connectionFactory() {
        return RedisServer.running(new LettuceConnectionFactory(where(), RedisServer.clientConfiguration()));
    }

    /** As a user whom all nodes know. */
    public LettuceConnectionFactory connectionFactory(String user, String password) {
        RedisClusterConfiguration where = where();
        where.setUsername(user);
        where.setPassword(password);
        return RedisServer.running(new LettuceConnectionFactory(where, RedisServer.clientConfiguration()));
    }

    private RedisClusterConfiguration where() {
        return new RedisClusterConfiguration(
                nodes.stream().map(node -> "127.0.0.1:" + node.port()).toList());
    }

    /** Moves a slot with all that is in it from one master to another. */
    public static void migrate(int slot, RedisServer source, RedisServer target) {
        openSlot(slot, source, target);
        keysIn(slot, source).forEach(key -> moveKey(key, source, target));
        assignSlot(slot, source, target);
    }

    /** Begins to move a slot: from now on the source has the keys that are there, and the target all others. */
    public static void openSlot(int slot, RedisServer source, RedisServer target) {
        String sourceId = source.ask(commands -> commands.clusterMyId());
        String targetId = target.ask(commands -> commands.clusterMyId());
        target.ask(commands -> commands.clusterSetSlotImporting(slot, sourceId));
        source.ask(commands -> commands.clusterSetSlotMigrating(slot, targetId));
    }

    public static List<String> keysIn(int slot, RedisServer node) {
        return node.ask(commands -> commands.clusterGetKeysInSlot(slot, SLOTS));
    }

    public static void moveKey(String key, RedisServer source, RedisServer target) {
        source.ask(commands ->
                commands.migrate("127.0.0.1", target.port(), 0, PATIENCE.toMillis(), MigrateArgs.Builder.key(key)));
    }

    /** Ends the move of a slot, of which the source has no keys any more. */
    public static void assignSlot(int slot, RedisServer source, RedisServer target) {
        String targetId = target.ask(commands -> commands.clusterMyId());
        target.ask(commands -> commands.clusterSetSlotNode(slot, targetId));
        source.ask(commands -> commands.clusterSetSlotNode(slot, targetId));
    }

    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }
}
