package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisSentinel;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import java.util.stream.Stream;

/** A Redis master, a replica, and a Sentinel that makes the one the other. */
public final class SentinelStore implements Store {

    private final RedisSentinel all;

    private SentinelStore(RedisSentinel all) {
        this.all = all;
    }

    /** Starts them. */
    public static SentinelStore start() {
        return new SentinelStore(RedisSentinel.start(1));
    }

    /** The server that is the master now. */
    public RedisServer master() {
        return one("role:master");
    }

    private RedisServer one(String role) {
        return servers()
                .filter(server -> info(server).contains(role))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Nobody has " + role));
    }

    private Stream<RedisServer> servers() {
        return Stream.concat(Stream.of(all.master()), all.replicas().stream());
    }

    private static String info(RedisServer server) {
        try {
            return server.ask(commands -> commands.info("replication"));
        } catch (RuntimeException e) {
            return "down";
        }
    }

    /** Whether there is a master with a replica that has all it has, and the Sentinel knows of both. */
    public boolean isWhole() {
        return servers().filter(server -> info(server).contains("role:master")).count() == 1
                && servers().anyMatch(server -> info(server).contains("master_link_status:up"))
                && all.sentinel()
                        .ask(RedisCommands::info)
                        .contains("status=ok,address=127.0.0.1:" + master().port() + ",slaves=1");
    }

    /** Whether the other server is the master by now. */
    public boolean hasLeft(RedisServer old) {
        return servers()
                .filter(server -> server != old)
                .anyMatch(server -> info(server).contains("role:master"));
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--distributed-permit.backend=redis",
                "--spring.cloud.consul.enabled=false",
                "--spring.data.redis.sentinel.master=" + RedisSentinel.NAME,
                "--spring.data.redis.sentinel.nodes=127.0.0.1:" + all.sentinel().port());
    }

    @Override
    public String version() {
        return master().ask(RedisStore::version) + " with Sentinel";
    }

    @Override
    public List<String> residue() {
        return master().ask(RedisStore::residue);
    }

    @Override
    public void close() {
        all.close();
    }
}
