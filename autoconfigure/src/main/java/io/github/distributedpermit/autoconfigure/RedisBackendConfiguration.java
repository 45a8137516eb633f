package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.spi.PermitBackend;
import io.lettuce.core.RedisClient;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Redis, on one of the application's own connection factories. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({LettuceConnectionFactory.class, RedisClient.class})
@ConditionalOnBackend(Backend.REDIS)
@ConditionalOnMissingBean(PermitBackend.class)
@EnableConfigurationProperties(RedisPermitProperties.class)
class RedisBackendConfiguration {

    @Bean
    RedisPermitBackend redisPermitBackend(
            ListableBeanFactory beans,
            @PermitRedisConnectionFactory ObjectProvider<RedisConnectionFactory> marked,
            ObjectProvider<RedisConnectionFactory> all,
            DistributedPermitProperties properties,
            RedisPermitProperties redis,
            CoreSettings core) {
        LettuceConnectionFactory factory = new RedisConnectionChoice(beans).choose(marked, all);
        return new RedisPermitBackend(
                factory,
                new SettingsReader(properties).redis(redis, factory.isClusterAware(), core.commandTimeout()),
                System::nanoTime);
    }
}
