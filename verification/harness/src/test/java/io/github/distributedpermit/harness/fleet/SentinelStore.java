package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Redis master with replicas, each behind a network of ours, and three Sentinels of which two must agree. */
public final class SentinelStore implements Store {

    private static final Pattern GOOD_REPLICAS = Pattern.compile("min_slaves_good_slaves:(\\d+)");

    private static final String NAME = "permits";
    private static final String SENTINELS = "127.0.0.2";
    private static final int COUNT = 3;

    private static final String CONFIGURATION = """
            sentinel monitor %1$s 127.0.0.1 %2$d 2
            sentinel down-after-milliseconds %1$s %3$d
            sentinel failover-timeout %1$s 5000
            """;

    private final List<RedisNode> nodes = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private SentinelStore() {}

    /**
     * Starts them.
     *
     * @param replicas how many
     * @param downAfter how long a master is silent before a Sentinel takes it for down
     * @param settings further ones of all servers
     */
    public static SentinelStore start(int replicas, Duration downAfter, String... settings) {
        SentinelStore store = new SentinelStore();
        RedisNode master = RedisNode.start(List.of(settings));
        store.nodes.add(master);
        for (int i = 0; i < replicas; i++) {
            List<String> all = new ArrayList<>(List.of(settings));
            all.addAll(List.of(
                    "--replicaof",
                    "127.0.0.1",
                    Integer.toString(master.network().port())));
            store.nodes.add(RedisNode.start(all));
        }
        for (int i = 0; i < COUNT; i++) {
            store.sentinels.add(RedisServer.startedSentinel(
                    CONFIGURATION.formatted(NAME, master.network().port(), downAfter.toMillis()),
                    RedisNode.source(SENTINELS).toArray(String[]::new)));
        }
        return store;
    }

    /** The servers whose connections a proxy recognises as not those of members. */
    public static Set<String> others() {
        return Set.of(SENTINELS, RedisNode.ADDRESS);
    }

    /** What the master replicates is held back from its replicas, whose connections stay. */
    public static void holdReplication(RedisNode master) {
        master.network().lag(Set.of(RedisNode.ADDRESS));
    }

    /** What was held back is lost with the connections. */
    public static void loseReplication(RedisNode master) {
        master.network().reset(RedisNode.ADDRESS::equals);
        master.network().catchUp();
    }

    /** The server that is the master now. */
    public RedisNode master() {
        return nodes.stream()
                .filter(RedisNode::isMaster)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("There is no master"));
    }

    /** Whether there is one master, whose replicas all have what it has, and all Sentinels agree with that. */
    public boolean isWhole() {
        List<RedisNode> masters = nodes.stream().filter(RedisNode::isMaster).toList();
        if (masters.size() != 1) {
            return false;
        }
        String agreed = "status=ok,address=127.0.0.1:%d,slaves=%d,sentinels=%d"
                .formatted(masters.get(0).network().port(), nodes.size() - 1, COUNT);
        return nodes.stream()
                                .filter(node -> node.replication().contains("master_link_status:up"))
                                .count()
                        == nodes.size() - 1
                && sentinels.stream()
                        .allMatch(sentinel -> InlineCommand.ask(sentinel.port(), "INFO sentinel")
                                .contains(agreed));
    }

    /** Another server that says by now that it is the master. */
    public Optional<RedisNode> successorOf(RedisNode old) {
        return nodes.stream()
                .filter(node -> node != old)
                .filter(RedisNode::isMaster)
                .findFirst();
    }

    /** Whether all Sentinels send those who ask to another master. */
    public boolean nameAnother(RedisNode old) {
        return sentinels.stream()
                .map(sentinel -> InlineCommand.ask(sentinel.port(), "INFO sentinel"))
                .allMatch(info -> info.contains("master0:")
                        && !info.contains("address=127.0.0.1:" + old.network().port() + ","));
    }

    /** Whether another server is the master by now and has so many replicas that keep up. */
    public boolean canServe(RedisNode old, int goodReplicas) {
        return successorOf(old)
                .filter(node -> goodReplicas(node.replication()) >= goodReplicas)
                .isPresent();
    }

    /** A server with {@code min-replicas-to-write} counts them itself. */
    private static int goodReplicas(String replication) {
        Matcher counted = GOOD_REPLICAS.matcher(replication);
        return counted.find()
                ? Integer.parseInt(counted.group(1))
                : (int) replication
                        .lines()
                        .filter(line -> line.contains("state=online"))
                        .count();
    }

    /** An operator has the Sentinels make a replica the master. Whether they do. */
    public boolean failOver() {
        return InlineCommand.ask(sentinels.get(0).port(), "SENTINEL FAILOVER " + NAME)
                .startsWith("+OK");
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--distributed-permit.backend=redis",
                "--spring.cloud.consul.enabled=false",
                "--spring.data.redis.sentinel.master=" + NAME,
                "--spring.data.redis.sentinel.nodes="
                        + sentinels.stream()
                                .map(sentinel -> "127.0.0.1:" + sentinel.port())
                                .collect(Collectors.joining(",")));
    }

    @Override
    public String version() {
        return master().server().ask(RedisStore::version) + " with Sentinel";
    }

    @Override
    public List<String> residue() {
        return master().server().ask(RedisStore::residue);
    }

    @Override
    public void keepLogs(Path folder) throws IOException {
        List<RedisServer> all = Stream.concat(nodes.stream().map(RedisNode::server), sentinels.stream())
                .toList();
        for (RedisServer server : all) {
            String name = (sentinels.contains(server) ? "sentinel-" : "redis-") + server.port() + ".log";
            Files.copy(server.log(), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        nodes.forEach(RedisNode::close);
    }
}
