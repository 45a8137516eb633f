package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisServer;
import java.util.ArrayList;
import java.util.List;

/**
 * A Redis server that replicates, behind a network of ours: it announces the proxy's port, so that members, Sentinels and
 * replicas all reach it through the proxy. A replica connects from {@value #ADDRESS}, by which the proxy recognises it.
 *
 * @param server the server itself, which the harness asks directly
 * @param network the proxy that all others use
 */
public record RedisNode(RedisServer server, Proxy network) implements AutoCloseable {

    static final String ADDRESS = "127.0.0.3";

    /** Starts it, with further settings as on the command line. */
    static RedisNode start(List<String> settings) {
        Proxy network = Proxy.to(0);
        List<String> all = new ArrayList<>(source(ADDRESS));
        all.addAll(List.of("--protected-mode", "no", "--repl-diskless-sync-delay", "0"));
        all.addAll(List.of("--replica-announce-ip", "127.0.0.1"));
        all.addAll(List.of("--replica-announce-port", Integer.toString(network.port())));
        all.addAll(settings);
        RedisServer server = RedisServer.started(all.toArray(String[]::new));
        network.leadTo(server.port());
        return new RedisNode(server, network);
    }

    /** What makes a server connect to others from that address: the first it listens on, or since Redis 7 a setting. */
    static List<String> source(String address) {
        List<String> settings = new ArrayList<>(List.of("--bind", address, "127.0.0.1"));
        if (AnotherRedis.isInUse()) {
            settings.addAll(List.of("--bind-source-addr", address));
        }
        return settings;
    }

    /** What {@code INFO replication} says, or that it is down. */
    String replication() {
        return InlineCommand.ask(server.port(), "INFO replication");
    }

    boolean isMaster() {
        return replication().contains("role:master");
    }

    @Override
    public void close() {
        network.close();
        server.close();
    }
}
