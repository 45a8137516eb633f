package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.util.function.LongSupplier;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Permits in Redis 6.2 or newer: standalone, Sentinel, Cluster or static master and replica nodes, with the connection
 * settings of the factory. Claims block no thread. A member has one connection for claims, one for its subscription, two for
 * each Sentinel, and one daemon thread, which connects and replaces connections that are lost, silent or lead to a server
 * that is not the master any more. The application's own connections are not used and not changed.
 */
public final class RedisPermitBackend implements PermitBackend {

    /** The name in settings. */
    public static final String NAME = "redis";

    private final LettuceConnectionFactory factory;
    private final RedisSettings settings;
    private final LongSupplier ticker;

    /**
     * Connects to nothing yet.
     *
     * @param factory the application's own; started and stopped by the application
     * @param settings prefix and times
     * @param ticker the monotonic clock, nanoseconds
     */
    public RedisPermitBackend(LettuceConnectionFactory factory, RedisSettings settings, LongSupplier ticker) {
        this.factory = factory;
        this.settings = settings;
        this.ticker = ticker;
    }

    /**
     * As the constructor, for whatever factory the application has.
     *
     * @throws IllegalArgumentException if the factory is not Lettuce's
     */
    public static RedisPermitBackend of(RedisConnectionFactory factory, RedisSettings settings, LongSupplier ticker) {
        if (factory instanceof LettuceConnectionFactory lettuce) {
            return new RedisPermitBackend(lettuce, settings, ticker);
        }
        throw new IllegalArgumentException("Permits in Redis need Lettuce, whose connection is asynchronous, but the "
                + "application connects with " + factory.getClass().getName() + ". Set "
                + "spring.data.redis.client-type=lettuce and have io.lettuce:lettuce-core on the classpath");
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String address() {
        return RedisAddress.of(factory);
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        return new RedisPermitStore(factory, settings, member, listener, ticker);
    }
}
