package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** A Consul agent that members use, and the server that it is or has. */
public class ConsulStore implements Store {

    /** The shortest that Consul allows. */
    public static final Duration TTL = Duration.ofSeconds(10);

    /** Below this is everything of permits. */
    public static final String ROOT = "distributed-permit/";

    private static final int VALUE = 8_000;
    private static final int SETS = 60;
    private static final int ENTRIES = 200;

    private final ConsulServer agent;
    private final ConsulProbe operator;
    private final int port;
    private final List<String> more;

    ConsulStore(ConsulServer agent, ConsulProbe operator, int port, String... more) {
        this.agent = agent;
        this.operator = operator;
        this.port = port;
        this.more = List.of(more);
    }

    private ConsulStore(ConsulServer agent) {
        this(agent, agent.probe(), agent.address().getPort());
    }

    /** An agent that is its own server, in memory. */
    public static ConsulStore start() {
        return new ConsulStore(ConsulServer.start());
    }

    /** An agent that is its own server and keeps what it has. */
    public static ConsulStore startOnDisk() {
        return new ConsulStore(ConsulServer.startOnDisk());
    }

    /** Likewise, with a log that takes a while to read: of a hundred megabytes of other people's keys. */
    public static ConsulStore startWithLongLog() {
        ConsulStore store = startOnDisk();
        String value = "A".repeat(VALUE);
        StringJoiner sets = new StringJoiner(",", "[", "]");
        for (int i = 0; i < SETS; i++) {
            sets.add("{\"KV\":{\"Verb\":\"set\",\"Key\":\"fill/%d\",\"Value\":\"%s\"}}".formatted(i, value));
        }
        for (int i = 0; i < ENTRIES; i++) {
            store.operator.put("txn", sets.toString());
        }
        return store;
    }

    /** An agent beside a server of its own. */
    public static ConsulStore startAgent() {
        ConsulServer server = ConsulServer.start();
        ConsulServer agent = server.startAgent();
        return new ConsulStore(agent, server.probe(), agent.address().getPort()) {
            @Override
            public void close() {
                super.close();
                server.close();
            }
        };
    }

    /** The agent itself. */
    public ConsulServer server() {
        return agent;
    }

    /** What an operator can do. */
    public ConsulProbe operator() {
        return operator;
    }

    @Override
    public List<String> settings() {
        List<String> all = new ArrayList<>(List.of(
                "--distributed-permit.backend=consul",
                "--spring.cloud.consul.enabled=true",
                "--spring.cloud.consul.host=127.0.0.1",
                "--spring.cloud.consul.port=" + port,
                "--distributed-permit.lease=" + TTL.toMillis() + "ms"));
        all.addAll(more);
        return all;
    }

    @Override
    public String version() {
        return "Consul " + operator.version().replaceAll("[^0-9.].*", "");
    }

    @Override
    public List<String> residue() {
        return operator.keys(ROOT).stream().map(ConsulProbe.Key::name).toList();
    }

    @Override
    public void close() {
        agent.close();
    }
}
