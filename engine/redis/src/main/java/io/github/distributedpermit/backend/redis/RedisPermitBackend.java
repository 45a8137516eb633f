package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.util.function.LongSupplier;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps permits in Redis 6.2 or newer: standalone, Sentinel, Cluster or static master and replica nodes, with the connection
 * settings of the factory. Thread-safe; a claim blocks no thread.
 *
 * <p>A member has one connection for claims, one for its subscription, two for each Sentinel, and one daemon thread. The
 * thread connects, and replaces connections that are lost, silent or lead to a server that is not the master any more. The
 * application's own connections are not used and not changed.
 */
public final class RedisPermitBackend implements PermitBackend {

    /** The name of this backend in settings. */
    public static final String NAME = "redis";

    /**
     * Why claims do not wait for a replica in a Redis Cluster. While a hash slot moves, Redis sends a claim on to another node, and
     * no {@code WAIT} can follow it there.
     */
    public static final String NOT_IN_A_CLUSTER =
            "claims can't wait for a replica in a Redis Cluster: while a hash slot "
                    + "moves, a claim is executed by another node than the WAIT behind it. Leave it false: a master of a Cluster "
                    + "that is cut off from the majority stops by itself after cluster-node-timeout";

    private final LettuceConnectionFactory factory;
    private final RedisSettings settings;
    private final LongSupplier ticker;

    /**
     * Creates the backend, which connects to nothing before a member joins.
     *
     * @param factory of the application, which starts and stops it
     * @param settings prefix and times
     * @param ticker the monotonic clock of the core, nanoseconds
     * @throws IllegalArgumentException if claims are to wait for a replica and the factory is one of a Redis Cluster
     */
    public RedisPermitBackend(LettuceConnectionFactory factory, RedisSettings settings, LongSupplier ticker) {
        if (settings.waitForReplica() && factory.isClusterAware()) {
            throw new IllegalArgumentException(NOT_IN_A_CLUSTER);
        }
        this.factory = factory;
        this.settings = settings;
        this.ticker = ticker;
    }

    @Override
    public String name() {
        return NAME;
    }

    /** Without user and password. */
    @Override
    public String address() {
        return RedisAddress.of(factory);
    }

    /** Returns before the connection is made; claims are held until the first attempt has ended. */
    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        return new RedisPermitStore(factory, settings, member, listener, ticker);
    }
}
