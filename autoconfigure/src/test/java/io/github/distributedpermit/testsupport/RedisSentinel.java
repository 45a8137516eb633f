package io.github.distributedpermit.testsupport;

import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A master and a Sentinel that knows where it is. */
public final class RedisSentinel implements AutoCloseable {

    private static final String NAME = "permits";

    private final RedisServer master;
    private final RedisServer sentinel;

    private RedisSentinel(RedisServer master, RedisServer sentinel) {
        this.master = master;
        this.sentinel = sentinel;
    }

    /** Starts both. */
    public static RedisSentinel start() {
        RedisServer master = RedisServer.started();
        return new RedisSentinel(master, RedisServer.sentinelOf(master, NAME));
    }

    /** The server that has the data. */
    public RedisServer master() {
        return master;
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
        master.close();
    }
}
