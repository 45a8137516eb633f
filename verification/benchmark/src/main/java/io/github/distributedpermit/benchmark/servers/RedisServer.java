package io.github.distributedpermit.benchmark.servers;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis with its default settings, but no snapshots: the {@code redis-server} that {@code -Dredis.executable}
 * names or that is on the PATH, else the one of the embedded-redis artifact.
 */
public final class RedisServer implements ScriptServer, AutoCloseable {

    private static final Pattern CLIENT = Pattern.compile("id=(\\d+) ");

    private final redis.embedded.RedisServer server;
    private final Path directory;
    private final int port;
    private final RedisClient client;
    private final RedisCommands<String, String> commands;

    private RedisServer(redis.embedded.RedisServer server, Path directory, int port) {
        this.server = server;
        this.directory = directory;
        this.port = port;
        this.client = RedisClient.create("redis://127.0.0.1:" + port);
        this.commands = client.connect().sync();
    }

    /** Starts it on a free port. */
    public static RedisServer start() throws IOException {
        return start(Ports.free());
    }

    /** Starts it on this port, with lines of its configuration file. */
    static RedisServer start(int port, String... settings) throws IOException {
        Path directory = Files.createTempDirectory("benchmark-redis");
        var builder = redis.embedded.RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("dir " + directory)
                .setting("save \"\"")
                .setting("maxclients 2000")
                .soutListener(line -> {})
                .serrListener(line -> {});
        for (String setting : settings) {
            builder.setting(setting);
        }
        File executable = executable();
        if (executable != null) {
            builder.executableProvider(() -> executable);
        }
        redis.embedded.RedisServer server = builder.build();
        server.start();
        return new RedisServer(server, directory, port);
    }

    private static @Nullable File executable() {
        String named = System.getProperty("redis.executable");
        if (named != null) {
            return new File(named);
        }
        try {
            return ExecutableProvider.newExecutableInPath("redis-server").get();
        } catch (IOException e) {
            return null; // then the one that embedded-redis brings
        }
    }

    /** Where it listens on the loopback interface. */
    public int port() {
        return port;
    }

    /** A section of INFO, by field. */
    public Map<String, String> info(String section) {
        Map<String, String> fields = new TreeMap<>();
        commands.info(section).lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1));
            }
        });
        return fields;
    }

    @Override
    public ScriptCalls scriptCalls() {
        Map<String, String> stats = info("commandstats");
        long calls = 0;
        long micros = 0;
        for (String command : new String[] {"eval", "evalsha"}) {
            String line = stats.getOrDefault("cmdstat_" + command, "calls=0,usec=0");
            calls += number(line, "calls");
            micros += number(line, "usec");
        }
        return new ScriptCalls(calls, micros);
    }

    private static long number(String line, String field) {
        Matcher matcher = Pattern.compile("\\b" + field + "=(\\d+)").matcher(line);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** The numbers of the clients that are connected, which it never gives twice. */
    public Set<Long> clients() {
        return commands.clientList()
                .lines()
                .map(CLIENT::matcher)
                .filter(Matcher::lookingAt)
                .map(client -> Long.valueOf(client.group(1)))
                .collect(Collectors.toSet());
    }

    @Override
    public double cpuSeconds() {
        Map<String, String> cpu = info("cpu");
        return Double.parseDouble(cpu.getOrDefault("used_cpu_sys", "0"))
                + Double.parseDouble(cpu.getOrDefault("used_cpu_user", "0"));
    }

    /** Its version. */
    public String version() {
        return "Redis " + info("server").getOrDefault("redis_version", "?");
    }

    /** For what has no method here. */
    public RedisCommands<String, String> commands() {
        return commands;
    }

    @Override
    public void close() throws IOException {
        client.shutdown();
        server.stop();
        try (var files = Files.walk(directory)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(RedisServer::delete);
        }
    }

    private static void delete(Path path) {
        try {
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
