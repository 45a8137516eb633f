package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.core.CoreSettings;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** This project on Redis, over the connection that Spring gives an application. */
public final class OnRedis {

    private OnRedis() {}

    /** One member. */
    public static OurContender contender(int port, CoreSettings settings) {
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
        factory.afterPropertiesSet();
        factory.start();
        RedisSettings redis = RedisSettings.ofPrefix(RedisSettings.DEFAULT_PREFIX);
        RedisPermitBackend backend = new RedisPermitBackend(factory, redis, System::nanoTime);
        return new OurContender(backend, settings, factory::destroy);
    }
}
