package io.github.distributedpermit.testsupport;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Three masters that share the hash slots. */
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

    private void join() {
        for (int i = 0; i < NODES; i++) {
            int[] slots =
                    IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES).toArray();
            nodes.get(i).ask(commands -> commands.clusterAddSlots(slots));
            if (i > 0) {
                nodes.get(i)
                        .ask(commands ->
                                commands.clusterMeet("127.0.0.1", nodes.get(0).port()));
            }
        }
        await().atMost(PATIENCE).until(() -> nodes.stream().allMatch(RedisCluster::isWhole));
    }

    private static boolean isWhole(RedisServer node) {
        return node.ask(commands -> commands.clusterInfo().contains("cluster_state:ok")
                && commands.clusterInfo().contains("cluster_known_nodes:" + NODES));
    }

    /** The nodes, in the order of their slots. */
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** A started connection factory for it; the caller destroys it. */
    public LettuceConnectionFactory connectionFactory() {
        RedisClusterConfiguration where = new RedisClusterConfiguration(
                nodes.stream().map(node -> "127.0.0.1:" + node.port()).toList());
        return RedisServer.running(new LettuceConnectionFactory(where, RedisServer.clientConfiguration()));
    }

    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }
}
