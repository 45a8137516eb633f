package io.github.distributedpermit.testsupport;

import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.ports.FreePorts;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A real Redis server on a free port of the loopback interface, in a directory of its own, that persists nothing. It can
 * be stopped and started again on the same port. Not thread-safe.
 */
public final class RedisServer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final int port;
    private final Path directory;
    private final List<String> settings;
    private final boolean sentinel;
    private int tlsPort;
    private @Nullable String password;
    private @Nullable Process process;

    private RedisServer(int port, boolean sentinel, List<String> settings) {
        this.port = port;
        this.sentinel = sentinel;
        this.settings = settings;
        try {
            this.directory = Files.createTempDirectory("distributed-permit-redis");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Starts a server.
     *
     * @param settings further ones, as on the command line: {@code "--maxmemory", "10mb"}
     */
    public static RedisServer started(String... settings) {
        RedisServer server = create(settings);
        server.start();
        return server;
    }

    /** A server that has a port but does not run yet. */
    public static RedisServer create(String... settings) {
        return new RedisServer(freePort(), false, List.of(settings));
    }

    /** Starts a server that asks for a password. */
    public static RedisServer startedWithPassword(String password) {
        RedisServer server = create("--requirepass", password);
        server.password = password;
        server.start();
        return server;
    }

    /** Starts a server that also listens for TLS, with this certificate; clients need none. */
    public static RedisServer startedWithTls(TestAuthority.Issued identity) {
        int tls = freePort();
        RedisServer server = started(
                "--tls-port",
                Integer.toString(tls),
                "--tls-auth-clients",
                "no",
                "--tls-cert-file",
                identity.certificate().toString(),
                "--tls-key-file",
                identity.key().toString(),
                "--tls-ca-cert-file",
                identity.certificate().toString());
        server.tlsPort = tls;
        return server;
    }

    /** Where it listens for TLS; 0 if it does not. */
    public int tlsPort() {
        return tlsPort;
    }

    static RedisServer sentinelOf(RedisServer master, String name) {
        return startedSentinel("""
                sentinel monitor %1$s 127.0.0.1 %2$d 1
                sentinel down-after-milliseconds %1$s 5000
                sentinel failover-timeout %1$s 2000
                """.formatted(name, master.port));
    }

    /**
     * Starts a Sentinel.
     *
     * @param configuration its file, which it rewrites
     * @param settings further ones, as on the command line
     */
    public static RedisServer startedSentinel(String configuration, String... settings) {
        RedisServer server = new RedisServer(freePort(), true, List.of(settings));
        try {
            Files.writeString(server.configuration(), configuration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.start();
        return server;
    }

    static int freePort() {
        // a cluster node also listens 10000 above its port
        int port;
        do {
            port = FreePorts.some(1).get(0);
        } while (!isFree(port + 10_000));
        return port;
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** Its process id; it must run. */
    public long pid() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("The server on port " + port + " does not run");
        }
        return running.pid();
    }

    /** Starts it, again if need be, and waits until it answers. Empty after each start. */
    public void start() {
        List<String> command = new ArrayList<>(List.of(RedisBinary.path()));
        if (sentinel) {
            command.add(configuration().toString());
            command.add("--sentinel");
        }
        command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1", "--dir", directory.toString()));
        if (!sentinel) {
            command.addAll(List.of("--save", "", "--appendonly", "no"));
        }
        command.addAll(settings);
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                    .start();
            awaitReady();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitReady() throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        long pid = pid();
        while (System.nanoTime() < deadline && ProcessHandle.of(pid).isPresent()) {
            try {
                if (this.<Boolean>ask(commands -> commands.info("server").contains("process_id:" + pid))) {
                    return;
                }
            } catch (RedisCommandExecutionException e) {
                if (settings.contains("--rename-command")) {
                    return; // it can't be asked who it is
                }
            } catch (RuntimeException e) {
                Thread.onSpinWait(); // not listening yet
            }
        }
        String output = Files.readString(log(), StandardCharsets.UTF_8);
        close();
        throw new IllegalStateException("No Redis on port " + port + ":\n" + output);
    }

    /** Stops it as {@code kill -9} does. */
    public void stop() {
        Process running = process;
        process = null;
        if (running != null) {
            running.destroyForcibly();
            try {
                running.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs commands on a connection made for them. */
    public <T> T ask(Function<RedisCommands<String, String>, T> question) {
        RedisClient client = client();
        try (var connection = client.connect()) {
            return question.apply(connection.sync());
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }

    /** A client of Lettuce's for it, which does not reconnect; the caller closes it. */
    public RedisClient client() {
        RedisURI.Builder uri =
                RedisURI.builder().withHost("127.0.0.1").withPort(port).withTimeout(Duration.ofSeconds(30));
        if (password != null) {
            uri.withPassword(password.toCharArray());
        }
        RedisClient client = RedisClient.create(SharedResources.get(), uri.build());
        client.setOptions(ClientOptions.builder().autoReconnect(false).build());
        return client;
    }

    /** A started connection factory for it, as Spring Boot makes one; the caller destroys it. */
    public LettuceConnectionFactory connectionFactory() {
        return connectionFactory(password);
    }

    /** As above, with a password of the caller's choice. */
    public LettuceConnectionFactory connectionFactory(@Nullable String withPassword) {
        RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("127.0.0.1", port);
        if (withPassword != null) {
            where.setPassword(withPassword);
        }
        return running(new LettuceConnectionFactory(where, clientConfiguration()));
    }

    /** A started connection factory for whatever is at that port of this machine; the caller destroys it. */
    public static LettuceConnectionFactory connectionFactory(int at) {
        return running(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", at), clientConfiguration()));
    }

    /** By a client with settings of its own. */
    public LettuceConnectionFactory connectionFactoryWith(Consumer<LettuceClientConfigurationBuilder> settings) {
        LettuceClientConfigurationBuilder client = usualClient();
        settings.accept(client);
        return running(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port), client.build()));
    }

    /** As a user whom the server knows. */
    public LettuceConnectionFactory connectionFactory(String user, String withPassword) {
        RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("127.0.0.1", port);
        where.setUsername(user);
        where.setPassword(withPassword);
        return running(new LettuceConnectionFactory(where, clientConfiguration()));
    }

    /** Starts a connection factory as an application context does. */
    public static LettuceConnectionFactory running(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static LettuceClientConfiguration clientConfiguration() {
        return usualClient().build();
    }

    private static LettuceClientConfigurationBuilder usualClient() {
        return LettuceClientConfiguration.builder()
                .clientResources(SharedResources.get())
                .commandTimeout(Duration.ofSeconds(10))
                .shutdownTimeout(Duration.ZERO);
    }

    /** What it has logged since it was created; removed when it is closed. */
    public Path log() {
        return directory.resolve("redis.log");
    }

    private Path configuration() {
        return directory.resolve("sentinel.conf");
    }

    /** Stops it and removes its directory. */
    @Override
    public void close() {
        stop();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(file -> file.delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
