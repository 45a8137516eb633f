package io.github.distributedpermit.testsupport;

import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A master, perhaps with replicas, and a Sentinel that knows where it is. */
public final class RedisSentinel implements AutoCloseable {

    /** What the Sentinel calls the master. */
    public static final String NAME = "permits";

    private final RedisServer master;
    private final RedisServer sentinel;
    private final List<RedisServer> replicas;

    private RedisSentinel(RedisServer master, List<RedisServer> replicas, RedisServer sentinel) {
        this.master = master;
        this.replicas = replicas;
        this.sentinel = sentinel;
    }

    /** Starts both. */
    public static RedisSentinel start() {
        return start(0);
    }

    /** Starts them with so many replicas, which need a moment to be known. */
    public static RedisSentinel start(int count) {
        RedisServer master = RedisServer.started("--repl-diskless-sync-delay", "0");
        List<RedisServer> replicas =
                Stream.generate(() -> replicaOf(master)).limit(count).toList();
        return new RedisSentinel(master, replicas, RedisServer.sentinelOf(master, NAME));
    }

    private static RedisServer replicaOf(RedisServer master) {
        return RedisServer.started(
                "--replicaof", "127.0.0.1", Integer.toString(master.port()), "--repl-diskless-sync-delay", "0");
    }

    /** The server that has the data at first. */
    public RedisServer master() {
        return master;
    }

    /** Those that had copies of it at first. */
    public List<RedisServer> replicas() {
        return replicas;
    }

    /** The Sentinel itself. */
    public RedisServer sentinel() {
        return sentinel;
    }

    /** A started connection factory that asks the Sentinel; the caller destroys it. */
    public LettuceConnectionFactory connectionFactory() {
        RedisSentinelConfiguration where =
                new RedisSentinelConfiguration().master(NAME).sentinel("127.0.0.1", sentinel.port());
        return RedisServer.running(new LettuceConnectionFactory(where, RedisServer.clientConfiguration()));
    }

    @Override
    public void close() {
        sentinel.close();
        replicas.forEach(RedisServer::close);
        master.close();
    }
}
