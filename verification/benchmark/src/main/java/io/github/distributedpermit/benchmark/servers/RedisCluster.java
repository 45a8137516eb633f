package io.github.distributedpermit.benchmark.servers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A real Redis Cluster of three masters without replicas, all on the loopback interface. */
public final class RedisCluster implements ScriptServer, AutoCloseable {

    private static final int NODES = 3;
    private static final int SLOTS = 16_384;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final List<RedisServer> nodes = new ArrayList<>();

    private RedisCluster() {}

    /** Starts the nodes, divides the slots among them and waits until all of them agree. */
    public static RedisCluster start() throws IOException, InterruptedException {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < NODES; i++) {
                cluster.nodes.add(RedisServer.start(Ports.freeWithBus(), "cluster-enabled yes"));
            }
            cluster.join();
            return cluster;
        } catch (IOException | InterruptedException | RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private void join() throws InterruptedException {
        for (int i = 0; i < NODES; i++) {
            int[] slots =
                    IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES).toArray();
            nodes.get(i).commands().clusterAddSlots(slots);
            if (i > 0) {
                nodes.get(i).commands().clusterMeet("127.0.0.1", nodes.get(0).port());
            }
        }
        long deadline = System.nanoTime() + PATIENCE;
        while (!nodes.stream().allMatch(RedisCluster::isWhole)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("The nodes of the Redis Cluster do not find each other");
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    private static boolean isWhole(RedisServer node) {
        String info = node.commands().clusterInfo();
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + NODES);
    }

    /** Where the nodes listen. */
    public List<Integer> ports() {
        return nodes.stream().map(RedisServer::port).toList();
    }

    /** What each node counted. */
    public List<ScriptCalls> scriptCallsByNode() {
        return nodes.stream().map(RedisServer::scriptCalls).toList();
    }

    @Override
    public ScriptCalls scriptCalls() {
        return scriptCallsByNode().stream().reduce(new ScriptCalls(0, 0), ScriptCalls::plus);
    }

    @Override
    public double cpuSeconds() {
        return nodes.stream().mapToDouble(RedisServer::cpuSeconds).sum();
    }

    @Override
    public void close() throws IOException {
        for (RedisServer node : nodes) {
            node.close();
        }
    }
}
