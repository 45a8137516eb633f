package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.member.Observers;
import java.util.List;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** This project on Redis, over the connection that Spring gives an application. */
public final class OnRedis {

    private OnRedis() {}

    /** One member of a standalone Redis. */
    public static OurContender contender(int port, CoreSettings settings) {
        return contender(List.of(port), settings, Observers.NONE);
    }

    /**
     * One member.
     *
     * @param ports one of a standalone server, or those of the masters of a Redis Cluster
     */
    public static OurContender contender(List<Integer> ports, CoreSettings settings, Observers observers) {
        return contender(ports, RedisSettings.ofPrefix(RedisSettings.DEFAULT_PREFIX), settings, observers);
    }

    /** One member that asks for no grace. Its prefix is its own: members with one prefix have to agree on that. */
    public static OurContender withoutGrace(List<Integer> ports) {
        RedisSettings redis = RedisSettings.ofPrefix("without-grace").withoutGrace();
        return contender(ports, redis, CoreSettings.DEFAULTS, Observers.NONE);
    }

    private static OurContender contender(
            List<Integer> ports, RedisSettings redis, CoreSettings settings, Observers observers) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(where(ports));
        factory.afterPropertiesSet();
        factory.start();
        RedisPermitBackend backend = new RedisPermitBackend(factory, redis, System::nanoTime);
        return new OurContender(backend, settings, observers, factory::destroy);
    }

    private static RedisConfiguration where(List<Integer> ports) {
        return ports.size() == 1
                ? new RedisStandaloneConfiguration("127.0.0.1", ports.get(0))
                : new RedisClusterConfiguration(
                        ports.stream().map(port -> "127.0.0.1:" + port).toList());
    }
}
