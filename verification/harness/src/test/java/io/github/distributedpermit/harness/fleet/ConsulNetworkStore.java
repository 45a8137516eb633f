package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.consulserver.ConsulServer;

/** One Consul agent behind a network of ours. */
public final class ConsulNetworkStore extends ConsulStore {

    private final Proxy network;

    private ConsulNetworkStore(ConsulServer server, Proxy network) {
        super(server, server.probe(), network.port());
        this.network = network;
    }

    /** Starts it. */
    public static ConsulNetworkStore startBehindProxy() {
        ConsulServer server = ConsulServer.start();
        return new ConsulNetworkStore(server, Proxy.to(server.address().getPort()));
    }

    /** The network between members and agent. */
    public Proxy network() {
        return network;
    }

    @Override
    public void close() {
        network.close();
        super.close();
    }
}
