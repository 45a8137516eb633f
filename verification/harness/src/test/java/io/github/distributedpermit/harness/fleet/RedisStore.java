package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One Redis server. Used by the master's thread. */
public final class RedisStore implements Store {

    private static final long FOR_EVER = -1;

    private final RedisServer server;
    private final @Nullable Proxy network;
    private final boolean eachItsOwn;
    private final Map<Integer, Proxy> networks = new HashMap<>();

    private RedisStore(RedisServer server, @Nullable Proxy network, boolean eachItsOwn) {
        this.eachItsOwn = eachItsOwn;
        this.server = server;
        this.network = network;
    }

    /** Starts it, with further settings as on the command line. */
    public static RedisStore start(String... settings) {
        return new RedisStore(RedisServer.started(settings), null, false);
    }

    /** Starts it behind a network of ours. */
    public static RedisStore startBehindProxy() {
        RedisServer server = RedisServer.started();
        return new RedisStore(server, Proxy.to(server.port()), false);
    }

    /** Starts it behind networks of ours, of which each member has its own. */
    public static RedisStore startBehindProxies() {
        return new RedisStore(RedisServer.started(), null, true);
    }

    /** The network between that member and the server. */
    public Proxy network(int member) {
        return networks.computeIfAbsent(member, number -> Proxy.to(server.port()));
    }

    /** The network between members and server. */
    public Proxy network() {
        return Objects.requireNonNull(network, "Members connect directly");
    }

    /** The server itself. */
    public RedisServer server() {
        return server;
    }

    /** Runs a command. */
    public <T> T ask(Function<RedisCommands<String, String>, T> question) {
        return server.ask(question);
    }

    @Override
    public List<String> settings() {
        return at(network == null ? server.port() : network.port());
    }

    @Override
    public List<String> settings(int member) {
        return eachItsOwn ? at(network(member).port()) : settings();
    }

    private static List<String> at(int port) {
        return List.of(
                "--distributed-permit.backend=redis",
                "--spring.cloud.consul.enabled=false",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + port);
    }

    @Override
    public String version() {
        return ask(RedisStore::version);
    }

    static String version(RedisCommands<String, String> commands) {
        String server = commands.info("server");
        return versionIn(server, "valkey_version:", "Valkey ")
                .or(() -> versionIn(server, "redis_version:", "Redis "))
                .orElse("Redis");
    }

    private static Optional<String> versionIn(String server, String field, String name) {
        return server.lines()
                .filter(line -> line.startsWith(field))
                .map(line -> name + line.substring(field.length()))
                .findFirst();
    }

    static boolean isReplica(RedisCommands<String, String> commands) {
        return commands.info("replication").contains("role:slave");
    }

    @Override
    public List<String> residue() {
        return ask(RedisStore::residue);
    }

    /**
     * The readable name of a killed member does not count: it expires after a day. With a grace the lineage stays by design, and
     * a key that has been in grace expires by itself.
     */
    static List<String> residue(RedisCommands<String, String> commands) {
        List<String> left = new ArrayList<>(commands.keys("distributed-permit*"));
        left.removeIf(key -> key.startsWith("distributed-permit:name:"));
        boolean grace = left.removeIf(key -> key.endsWith(":lineage"));
        left.removeIf(key -> grace && commands.pttl(key) != FOR_EVER);
        left.addAll(commands.pubsubChannels("distributed-permit*"));
        return left;
    }

    @Override
    public void close() {
        if (network != null) {
            network.close();
        }
        networks.values().forEach(Proxy::close);
        server.close();
    }
}
