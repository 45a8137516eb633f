package io.github.distributedpermit.consulserver;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Three servers on three addresses of the loopback interface; one of them leads. */
public final class ConsulCluster implements AutoCloseable {

    private static final int SIZE = 3;

    private final List<ConsulServer> servers = new ArrayList<>();

    private ConsulCluster() {}

    /** Elections take seconds, not tens of them. */
    public static ConsulCluster start() {
        ConsulCluster cluster = new ConsulCluster();
        List<List<Integer>> ports = new ArrayList<>();
        for (int i = 1; i <= SIZE; i++) {
            ports.add(FreePorts.on(host(i), 3));
        }
        for (int i = 1; i <= SIZE; i++) {
            List<String> extra = new ArrayList<>(List.of(
                    "-server",
                    "-bootstrap-expect=" + SIZE,
                    "-data-dir=" + ConsulServer.dataDirectory(ports.get(i - 1))));
            for (int other = 1; other <= SIZE; other++) {
                extra.add("-retry-join=" + host(other) + ":"
                        + ports.get(other - 1).get(2));
            }
            extra.addAll(List.of("-retry-interval=1s", "-hcl", "performance { raft_multiplier = 1 }"));
            cluster.servers.add(ConsulServer.prepare(host(i), ports.get(i - 1), extra));
        }
        cluster.servers.forEach(ConsulServer::launch);
        cluster.servers.forEach(ConsulServer::awaitLeader);
        return cluster;
    }

    private static String host(int number) {
        return "127.0.0." + number;
    }

    /** An agent that is no server, and asks whichever lives; the caller closes it. */
    public ConsulServer startAgent() {
        return ConsulServer.startAgentOf(servers);
    }

    /** All of them, alive or not. */
    public List<ConsulServer> servers() {
        return List.copyOf(servers);
    }

    /** One that does not lead. */
    public ConsulServer follower() {
        ConsulServer leader = leader();
        return servers.stream()
                .filter(server -> server != leader && server.isAlive())
                .findFirst()
                .orElseThrow();
    }

    /** The one that leads. */
    public ConsulServer leader() {
        return await().atMost(Duration.ofSeconds(60)).until(this::current, leader -> leader != null);
    }

    private @Nullable ConsulServer current() {
        for (ConsulServer server : servers) {
            if (server.isAlive()) {
                String address = server.probe().leader();
                return servers.stream()
                        .filter(each -> each.isAlive() && each.isAt(address))
                        .findFirst()
                        .orElse(null);
            }
        }
        return null;
    }

    @Override
    public void close() {
        servers.forEach(ConsulServer::close);
    }
}
