package io.github.distributedpermit.consulserver;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An agent of our own: a process on free ports that ends with the JVM at the latest. */
public final class ConsulServer implements AutoCloseable {

    private static final int ATTEMPTS = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> command;
    private final String node = "test-" + UUID.randomUUID();
    private final ConsulProbe probe;
    private final Path log;
    private final String rpc;
    private final String gossip;
    private ConsulProbe access;
    private int tlsPort;
    private @Nullable Process process;

    private ConsulServer(String host, List<String> ports, URI address, List<String> extra) {
        command = new ArrayList<>(List.of(ConsulBinary.require().toString(), "agent"));
        command.addAll(List.of("-bind=" + host, "-client=" + host, "-node=" + node));
        command.addAll(ports);
        command.addAll(List.of("-serf-wan-port=-1", "-grpc-port=-1", "-dns-port=-1"));
        command.addAll(List.of("-disable-host-node-id", "-log-level=warn"));
        // each test is a client with connections of its own, which stay open until its client is collected
        command.addAll(List.of("-hcl", "limits { http_max_conns_per_client = 4000 }"));
        command.addAll(extra);
        probe = new ConsulProbe(address);
        access = probe;
        rpc = host + ":" + ports.get(1).replaceAll("[^0-9]", "");
        gossip = host + ":" + ports.get(2).replaceAll("[^0-9]", "");
        try {
            Path directory = Files.createDirectories(Path.of("target", "consul"));
            log = directory.resolve(node + ".log");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(this::kill, "consul-" + node));
    }

    /** A single server in memory that denies what no token allows; this one is allowed everything. */
    public static ConsulServer startWithAccessControl(String master) {
        ConsulServer server = prepare(
                "-hcl", "acl { enabled = true default_policy = \"deny\" tokens { master = \"" + master + "\" } }");
        server.access = server.probe.with(master);
        server.run();
        return server;
    }

    /** A single server in memory that is also asked over TLS, with this certificate; clients need none. */
    public static ConsulServer startWithTls(TestAuthority.Issued identity) {
        int tls = FreePorts.some(1).get(0);
        ConsulServer server = start(
                "-https-port=" + tls,
                "-hcl",
                "cert_file = \"%s\" key_file = \"%s\"".formatted(identity.certificate(), identity.key()));
        server.tlsPort = tls;
        return server;
    }

    /** Where it is asked over TLS; 0 if it is not. */
    public int tlsPort() {
        return tlsPort;
    }

    /** A single server in memory, with a leader. */
    public static ConsulServer start(String... extra) {
        for (int attempt = 1; ; attempt++) {
            ConsulServer server = prepare(extra);
            try {
                server.run();
                return server;
            } catch (EndedException e) { // another program may have taken one of its ports meanwhile
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** A single server that has its data again when it is killed and run again. */
    public static ConsulServer startOnDisk() {
        List<Integer> free = FreePorts.some(3);
        ConsulServer server = prepare(
                "127.0.0.1",
                free,
                List.of(
                        "-server",
                        "-bootstrap-expect=1",
                        "-data-dir=" + dataDirectory(free),
                        "-hcl",
                        "performance { raft_multiplier = 1 }"));
        server.run();
        return server;
    }

    /** An agent that is no server but asks these; it has its data again when it is killed and run again. */
    static ConsulServer startAgentOf(List<ConsulServer> servers) {
        List<Integer> free = FreePorts.some(3);
        List<String> extra = new ArrayList<>(List.of("-data-dir=" + dataDirectory(free), "-retry-interval=1s"));
        servers.forEach(server -> extra.add("-retry-join=" + server.gossip));
        ConsulServer agent = prepare("127.0.0.1", free, extra);
        agent.run();
        return agent;
    }

    /** An agent that is no server but asks this one. */
    public ConsulServer startAgent() {
        return startAgentOf(List.of(this));
    }

    static String dataDirectory(List<Integer> ports) {
        return "target/consul/data-" + ports.get(0) + "-" + System.nanoTime();
    }

    /** The same, not running yet. */
    public static ConsulServer prepare(String... extra) {
        List<Integer> free = FreePorts.some(3);
        List<String> all = new ArrayList<>(List.of("-dev"));
        all.addAll(List.of(extra));
        return new ConsulServer("127.0.0.1", ports(free), address("127.0.0.1", free), all);
    }

    static ConsulServer prepare(String host, List<Integer> ports, List<String> extra) {
        return new ConsulServer(host, ports(ports), address(host, ports), extra);
    }

    private static List<String> ports(List<Integer> free) {
        return List.of("-http-port=" + free.get(0), "-server-port=" + free.get(1), "-serf-lan-port=" + free.get(2));
    }

    private static URI address(String host, List<Integer> free) {
        return URI.create("http://" + host + ":" + free.get(0));
    }

    /** Starts it, or starts it again, empty if it keeps nothing on disk; waits until it takes writes. */
    public void run() {
        launch();
        awaitLeader();
    }

    /** Starts it and waits for nothing. */
    public void launch() {
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until it takes writes. */
    public void awaitLeader() {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptions()
                .until(() -> hasEnded()
                        || (access.node().equals(node)
                                && access.knows(node)
                                && access.put("kv/test-leader", "x") == 200));
        if (hasEnded()) {
            throw new EndedException("Consul ended; see " + log);
        }
    }

    private boolean hasEnded() {
        return process == null || !process.isAlive();
    }

    /** It ended before it took writes. */
    private static final class EndedException extends IllegalStateException {

        private static final long serialVersionUID = 1;

        EndedException(String message) {
            super(message);
        }
    }

    /** Where it listens. */
    public URI address() {
        return probe.address();
    }

    /** Reads and writes past the backend. */
    public ConsulProbe probe() {
        return probe;
    }

    boolean isAt(String address) {
        return rpc.equals(address);
    }

    boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Ends it without a word. */
    public void kill() {
        Process running = process;
        if (running == null) {
            return;
        }
        running.destroyForcibly();
        try {
            if (!running.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("Consul does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kill();
    }
}
