package io.github.distributedpermit.benchmark.servers;

import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.Version;

/** A real ZooKeeper, standalone, in a process of the benchmark. */
public final class ZooKeeperServer implements AutoCloseable {

    private final TestingServer server;

    private ZooKeeperServer(TestingServer server) {
        this.server = server;
    }

    /** Starts it on a free port. */
    public static ZooKeeperServer start() throws Exception {
        return new ZooKeeperServer(new TestingServer(true));
    }

    /** What clients connect to. */
    public String connectString() {
        return server.getConnectString();
    }

    /** Its version. */
    public String version() {
        return "ZooKeeper " + Version.getVersion();
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
