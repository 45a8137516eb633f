package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.autoconfigure.DistributedPermitProperties;
import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.core.CoreSettings;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** As the auto-configuration has it, but Redis forgets members without permits so soon that a run can wait for it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "distributed-permit.backend", havingValue = "redis")
class InRedis {

    private static final Duration WATCH = Duration.ofSeconds(5);

    @Bean
    RedisPermitBackend backend(
            LettuceConnectionFactory connections,
            DistributedPermitProperties properties,
            CoreSettings core,
            Environment environment) {
        DistributedPermitProperties.Redis redis = properties.redis();
        Duration tombstone = Duration.ofMillis(environment.getRequiredProperty("harness.tombstone", Long.class));
        RedisSettings settings = new RedisSettings(
                properties.keyPrefix(),
                tombstone,
                WATCH,
                core.commandTimeout(),
                redis.grace(),
                redis.newServerGrace(),
                redis.waitForReplica());
        return new RedisPermitBackend(connections, settings, System::nanoTime);
    }
}
