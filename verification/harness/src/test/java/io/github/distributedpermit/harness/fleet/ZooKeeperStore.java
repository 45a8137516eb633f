package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Version;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.common.X509Exception;
import org.jspecify.annotations.Nullable;

/** An ensemble of real ZooKeeper servers, of one or of three, in this process. */
public final class ZooKeeperStore implements Store {

    /** How long a session outlives its process. */
    public static final Duration SESSION = Duration.ofSeconds(3);

    private static final String ROOT = "/distributed-permit";
    private static final int TICK_MILLIS = 500;
    private static final int CONNECTIONS = 2_000;

    private final TestingCluster servers;
    private final CuratorFramework client;
    private final @Nullable Proxy network;

    private ZooKeeperStore(TestingCluster servers, @Nullable Proxy network) {
        this.servers = servers;
        this.network = network;
        this.client = CuratorFrameworkFactory.newClient(servers.getConnectString(), new RetryForever(100));
        client.start();
    }

    /** Starts so many servers. */
    public static ZooKeeperStore start(int count) throws Exception {
        return new ZooKeeperStore(servers(count), null);
    }

    /** Starts one behind a network of ours. */
    public static ZooKeeperStore startBehindProxy() throws Exception {
        TestingCluster cluster = servers(1);
        int port = cluster.getInstances().iterator().next().getPort();
        return new ZooKeeperStore(cluster, Proxy.to(port));
    }

    /** The network between members and server. */
    public Proxy network() {
        return Objects.requireNonNull(network, "Members connect directly");
    }

    private static TestingCluster servers(int count) throws Exception {
        System.setProperty("znode.container.checkIntervalMs", "10");
        System.setProperty("znode.container.maxPerMinute", "1000000");
        System.setProperty("zookeeper.admin.enableServer", "false");
        // a disk that others use lets a write wait for seconds; what a killed server wrote is kept by the machine
        System.setProperty("zookeeper.forceSync", "no");
        List<Integer> ports = FreePorts.some(3 * count);
        List<InstanceSpec> specs = new ArrayList<>();
        for (int server = 1; server <= count; server++) {
            List<Integer> own = ports.subList(3 * server - 3, 3 * server);
            specs.add(
                    new InstanceSpec(null, own.get(0), own.get(1), own.get(2), true, server, TICK_MILLIS, CONNECTIONS));
        }
        TestingCluster cluster = new TestingCluster(specs);
        cluster.start();
        return cluster;
    }

    /** Starts three that serve reads while they are too few. */
    public static ZooKeeperStore startReadOnly() throws Exception {
        System.setProperty("readonlymode.enabled", "true");
        return start(3);
    }

    /** Whether the server serves reads only. */
    public boolean isReadOnly(InstanceSpec server) {
        try {
            return FourLetterWordMain.send4LetterWord("127.0.0.1", server.getPort(), "srvr", false, 1_000)
                    .contains("Mode: read-only");
        } catch (IOException | X509Exception.SSLContextException e) {
            return false;
        }
    }

    /** The servers themselves. */
    public List<InstanceSpec> servers() {
        return List.copyOf(servers.getInstances());
    }

    /** One server less. */
    public void stop(InstanceSpec server) throws Exception {
        servers.killServer(server);
    }

    /** The server again, with what it had. */
    public void start(InstanceSpec server) throws Exception {
        servers.restartServer(server);
    }

    /** A client of our own. */
    public CuratorFramework client() {
        return client;
    }

    @Override
    public List<String> settings() {
        String where = network == null ? servers.getConnectString() : "127.0.0.1:" + network.port();
        return List.of(
                "--distributed-permit.backend=zookeeper",
                "--spring.cloud.consul.enabled=false",
                "--distributed-permit.zookeeper.connect-string=" + where,
                "--distributed-permit.lease=" + SESSION.toMillis() + "ms");
    }

    @Override
    public String version() {
        int count = servers.getInstances().size();
        return "ZooKeeper " + Version.getVersion() + (count > 1 ? ", " + count + " servers" : "");
    }

    @Override
    public List<String> residue() {
        try {
            return below(ROOT);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (Exception e) {
            return List.of("unknown: " + e);
        }
    }

    /** All nodes below, and not the node itself. */
    public List<String> below(String path) throws Exception {
        List<String> nodes = new ArrayList<>();
        for (String child : client.getChildren().forPath(path)) {
            String node = path + "/" + child;
            nodes.add(node);
            try {
                nodes.addAll(below(node));
            } catch (KeeperException.NoNodeException e) {
                nodes.remove(node); // gone meanwhile
            }
        }
        return nodes;
    }

    @Override
    public void close() {
        client.close();
        if (network != null) {
            network.close();
        }
        System.clearProperty("readonlymode.enabled");
        try {
            servers.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
