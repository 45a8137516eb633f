package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.consulserver.ConsulCluster;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.io.UncheckedIOException;

/** Three Consul servers, and an agent that members use. */
public final class ConsulClusterStore extends ConsulStore {

    private static final int WELL = 200;

    private final ConsulCluster cluster;

    private ConsulClusterStore(ConsulCluster cluster, ConsulServer agent) {
        super(agent, agent.probe(), agent.address().getPort());
        this.cluster = cluster;
    }

    /** Starts them. */
    public static ConsulClusterStore startCluster() {
        ConsulCluster cluster = ConsulCluster.start();
        return new ConsulClusterStore(cluster, cluster.startAgent());
    }

    /** The servers. */
    public ConsulCluster cluster() {
        return cluster;
    }

    /** Whether a write goes through just now. */
    public boolean takesWrites() {
        try {
            return operator().put("kv/harness-writes", "x") == WELL;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Override
    public String version() {
        return super.version() + ", 3 servers";
    }

    @Override
    public void close() {
        super.close();
        cluster.close();
    }
}
