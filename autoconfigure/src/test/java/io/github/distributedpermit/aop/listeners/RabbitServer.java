package io.github.distributedpermit.aop.listeners;

import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * One RabbitMQ for all tests of a JVM, which ends with it: from Debian's packages. Without them, tests are skipped with one loud
 * line, or fail if the environment says {@code CI=true}.
 */
final class RabbitServer {

    private static final String REMEDY =
            "No RabbitMQ for the tests: they take it from Debian's packages, and need a reachable mirror.";

    private static @Nullable Integer port;

    private RabbitServer() {}

    static synchronized int port() {
        Integer running = port;
        if (running == null) {
            running = start();
            port = running;
        }
        return running;
    }

    private static int start() {
        try {
            List<Integer> ports = FreePorts.some(3);
            Path home = Files.createTempDirectory("distributed-permit-rabbit");
            Path erlang = packages().resolve("usr/lib/erlang");
            Path programs = erts(erlang).resolve("bin");
            String epmd = ports.get(0).toString();
            // Debian's script knows no other place than /usr.
            Path erl = Files.writeString(home.resolve("erl"), """
                    #!/bin/sh
                    ROOTDIR=%s BINDIR=%s EMU=beam PROGNAME=erl
                    export ROOTDIR BINDIR EMU PROGNAME
                    exec "$BINDIR/erlexec" "$@"
                    """.formatted(erlang, programs));
            if (!erl.toFile().setExecutable(true)) {
                throw new IOException(erl + " cannot be made executable");
            }
            run(home, Map.of(), programs.resolve("epmd").toString(), "-address", "127.0.0.1", "-port", epmd);
            Path program = packages().resolve("usr/lib/rabbitmq/lib");
            try (var versions = Files.list(program)) {
                program = versions.findFirst().orElseThrow();
            }
            Process server = run(
                    home,
                    Map.ofEntries(
                            Map.entry("PATH", home + ":" + System.getenv("PATH")),
                            Map.entry("HOME", home.toString()),
                            Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
                            Map.entry("ERL_EPMD_PORT", epmd),
                            Map.entry("RABBITMQ_HOME", program.toString()),
                            Map.entry("RABBITMQ_NODENAME", "permits@localhost"),
                            Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
                            Map.entry("RABBITMQ_NODE_PORT", ports.get(1).toString()),
                            Map.entry("RABBITMQ_DIST_PORT", ports.get(2).toString()),
                            Map.entry(
                                    "RABBITMQ_MNESIA_BASE", home.resolve("data").toString()),
                            Map.entry("RABBITMQ_LOG_BASE", home.toString()),
                            Map.entry("RABBITMQ_LOGS", "-"),
                            Map.entry("RABBITMQ_PID_FILE", home.resolve("pid").toString()),
                            Map.entry(
                                    "RABBITMQ_ENABLED_PLUGINS_FILE",
                                    home.resolve("plugins").toString()),
                            Map.entry("RABBITMQ_CONF_ENV_FILE", "/dev/null"),
                            Map.entry(
                                    "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                                    "-kernel inet_dist_use_interface {127,0,0,1}")),
                    "bash",
                    program.resolve("sbin/rabbitmq-server").toString());
            await().atMost(Duration.ofSeconds(60)).until(() -> isReady(server, ports.get(1), home));
            return ports.get(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Process run(Path home, Map<String, String> environment, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(home.toFile())
                .redirectErrorStream(true)
                .redirectOutput(home.resolve(Path.of(command[command.length > 2 ? 0 : command.length - 1])
                                        .getFileName() + ".log")
                        .toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }));
        return process;
    }

    private static boolean isReady(Process server, int port, Path home) throws TimeoutException {
        if (!server.isAlive()) {
            throw new IllegalStateException("RabbitMQ ended with " + server.exitValue() + ", see " + home);
        }
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(port);
        try (Connection connection = factory.newConnection()) {
            return connection.isOpen();
        } catch (IOException e) {
            return false;
        }
    }

    private static Path erts(Path erlang) throws IOException {
        try (var files = Files.list(erlang)) {
            return files.filter(file -> file.getFileName().toString().startsWith("erts-"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static Path packages() {
        try {
            return DebianPackages.unpacked(
                    "rabbitmq",
                    "rabbitmq-server",
                    "erlang-base",
                    "erlang-asn1",
                    "erlang-crypto",
                    "erlang-eldap",
                    "erlang-inets",
                    "erlang-mnesia",
                    "erlang-os-mon",
                    "erlang-public-key",
                    "erlang-runtime-tools",
                    "erlang-ssl",
                    "erlang-syntax-tools",
                    "erlang-tools",
                    "erlang-xmerl");
        } catch (IllegalStateException e) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY, e);
            }
            System.getLogger(RabbitServer.class.getName()).log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
            return Assumptions.abort(REMEDY);
        }
    }
}
