package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.spi.PermitBackend;
import io.lettuce.core.RedisClient;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Redis, on the application's own connection factory. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({LettuceConnectionFactory.class, RedisClient.class})
@ConditionalOnBackend(Backend.REDIS)
@ConditionalOnMissingBean(PermitBackend.class)
@EnableConfigurationProperties(RedisPermitProperties.class)
class RedisBackendConfiguration {

    @Bean
    RedisPermitBackend redisPermitBackend(
            ObjectProvider<RedisConnectionFactory> factories,
            DistributedPermitProperties properties,
            RedisPermitProperties redis) {
        RedisSettings settings = new SettingsReader(properties).redis();
        if (redis.grace()) {
            settings = settings.withGrace(redis.newServerGrace());
        }
        return new RedisPermitBackend(lettuce(factories), settings, System::nanoTime);
    }

    private static LettuceConnectionFactory lettuce(ObjectProvider<RedisConnectionFactory> factories) {
        RedisConnectionFactory factory = factories.getIfUnique();
        if (factory instanceof LettuceConnectionFactory lettuce) {
            return lettuce;
        }
        if (factory != null) {
            throw new UnusableBackendException(
                    "Permits in Redis need Lettuce, whose connection is asynchronous, but the application connects with "
                            + factory.getClass().getName(),
                    "Set spring.data.redis.client-type=lettuce and have io.lettuce:lettuce-core on the classpath");
        }
        List<String> names =
                factories.stream().map(each -> each.getClass().getSimpleName()).toList();
        if (names.isEmpty()) {
            throw new UnusableBackendException(
                    "Permits are to live in Redis, but the application has no RedisConnectionFactory",
                    "Add the dependency %s, whose auto-configuration makes one, or define one"
                            .formatted(Backend.REDIS.dependency()));
        }
        throw new UnusableBackendException(
                "Permits are to live in Redis, but the application has several connections to choose from: " + names,
                "Mark one of the RedisConnectionFactory beans @Primary");
    }
}
