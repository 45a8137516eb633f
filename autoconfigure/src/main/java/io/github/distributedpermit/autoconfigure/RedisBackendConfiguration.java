package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.spi.PermitBackend;
import io.lettuce.core.RedisClient;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Redis, on one of the application's connection factories, or on one for permits only. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({LettuceConnectionFactory.class, RedisClient.class})
@ConditionalOnBackend(Backend.REDIS)
@ConditionalOnMissingBean(PermitBackend.class)
class RedisBackendConfiguration {

    @Bean
    @ConditionalOnBooleanProperty("distributed-permit.redis.own-connection")
    OwnRedisConnection distributedPermitRedisConnection(
            ListableBeanFactory beans, ConfigurableEnvironment environment) {
        return new OwnRedisConnection(beans, environment);
    }

    @Bean
    RedisPermitBackend redisPermitBackend(
            ListableBeanFactory beans,
            ObjectProvider<OwnRedisConnection> own,
            @PermitRedisConnectionFactory ObjectProvider<RedisConnectionFactory> marked,
            ObjectProvider<RedisConnectionFactory> all,
            DistributedPermitProperties properties,
            CoreSettings core) {
        LettuceConnectionFactory factory = new RedisConnectionChoice(beans).choose(own, marked, all);
        return new RedisPermitBackend(
                factory,
                new SettingsReader(properties).redis(factory.isClusterAware(), core.commandTimeout()),
                System::nanoTime);
    }
}
