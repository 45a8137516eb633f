package io.github.distributedpermit.benchmark.servers;

import io.github.distributedpermit.benchmark.peers.ConsulHttp;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A real Consul, a single server in memory: the {@code consul} that {@code -Dconsul.binary} names, that is on the PATH, or
 * that this project's tests have fetched.
 */
public final class ConsulServer implements AutoCloseable {

    private static final Pattern APPLIED = Pattern.compile("\"applied_index\"\\s*:\\s*\"(\\d+)\"");
    private static final Pattern VERSION = Pattern.compile("\"Version\"\\s*:\\s*\"([^\"]+)\"");
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    private final Process process;
    private final ConsulHttp http;
    private final int port;

    private ConsulServer(Process process, int port) {
        this.process = process;
        this.port = port;
        this.http = new ConsulHttp(port);
    }

    /** Starts it on free ports; empty if there is no program. */
    public static Optional<ConsulServer> start() throws IOException, InterruptedException {
        Optional<Path> program = program();
        if (program.isEmpty()) {
            return Optional.empty();
        }
        int port = Ports.free();
        Process process = new ProcessBuilder(
                        program.get().toString(),
                        "agent",
                        "-dev",
                        "-bind=127.0.0.1",
                        "-client=127.0.0.1",
                        "-node=benchmark-" + port,
                        "-http-port=" + port,
                        "-server-port=" + Ports.free(),
                        "-serf-lan-port=" + Ports.free(),
                        "-serf-wan-port=-1",
                        "-grpc-port=-1",
                        "-dns-port=-1",
                        "-disable-host-node-id",
                        "-log-level=err",
                        "-hcl=limits { http_max_conns_per_client = 2000 }")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        ConsulServer server = new ConsulServer(process, port);
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        server.awaitLeader();
        return Optional.of(server);
    }

    private static Optional<Path> program() {
        String named = System.getProperty("consul.binary");
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        String path = System.getenv().getOrDefault("PATH", "");
        Path kept = Path.of(System.getProperty("user.home"), ".cache", "distributed-permit", "consul", "consul");
        return Stream.concat(
                        Stream.of(path.split(File.pathSeparator)).map(folder -> Path.of(folder, "consul")),
                        Stream.of(kept))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private void awaitLeader() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE;
        while (true) {
            try {
                if (http.get("status/leader").body().length() > 2) {
                    return;
                }
            } catch (IOException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    /** Its HTTP port on the loopback interface. */
    public int port() {
        return port;
    }

    /** How many entries its log has: every write is one, whether it changed something or not. */
    public long writes() throws IOException, InterruptedException {
        Matcher matcher = APPLIED.matcher(self());
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** Its version. */
    public String version() throws IOException, InterruptedException {
        Matcher matcher = VERSION.matcher(self());
        return "Consul " + (matcher.find() ? matcher.group(1) : "?");
    }

    private String self() throws IOException, InterruptedException {
        return http.get("agent/self").body();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }
}
