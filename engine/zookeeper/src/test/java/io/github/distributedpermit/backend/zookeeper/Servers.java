package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.ports.FreePorts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;

/** Real servers on free ports of this machine, quick to end sessions and to collect empty nodes. */
final class Servers {

    /** Sessions last from two to twenty of these. */
    static final int TICK_MILLIS = 500;

    /** For tests in which no session expires. A member gives up a session that is unconfirmed for a part of its length. */
    static final int LONG_TICK_MILLIS = 2_000;

    /** The longest session of {@link #LONG_TICK_MILLIS}. */
    static final Duration LONG_SESSION = Duration.ofSeconds(40);

    private static final int ANY_ID = -1;
    private static final int CONNECTIONS = 2_000;

    static {
        System.setProperty("znode.container.checkIntervalMs", "10");
        System.setProperty("znode.container.maxPerMinute", "1000000");
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.4lw.commands.whitelist", "wchp");
        System.setProperty("readonlymode.enabled", "true");
    }

    private Servers() {}

    static TestingServer single() {
        return single(TICK_MILLIS);
    }

    static TestingServer single(int tick) {
        try {
            return new TestingServer(spec(ANY_ID, tick, FreePorts.some(3)), true);
        } catch (Exception e) {
            throw new IllegalStateException("No ZooKeeper server", e);
        }
    }

    /** Three servers. */
    static TestingCluster ensemble(int tick) {
        try {
            List<Integer> ports = FreePorts.some(9);
            List<InstanceSpec> specs = new ArrayList<>();
            for (int server = 1; server <= 3; server++) {
                specs.add(spec(server, tick, ports.subList(3 * server - 3, 3 * server)));
            }
            TestingCluster cluster = new TestingCluster(specs);
            cluster.start();
            return cluster;
        } catch (Exception e) {
            throw new IllegalStateException("No ZooKeeper ensemble", e);
        }
    }

    private static InstanceSpec spec(int server, int tick, List<Integer> ports) {
        return new InstanceSpec(null, ports.get(0), ports.get(1), ports.get(2), true, server, tick, CONNECTIONS);
    }
}
