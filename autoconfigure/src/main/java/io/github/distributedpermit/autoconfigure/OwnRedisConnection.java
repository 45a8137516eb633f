package io.github.distributedpermit.autoconfigure;

import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A Lettuce connection for permits only, in an application that connects with another client. Spring Boot's own auto-configuration makes
 * it in a context of its own, with the settings {@code spring.data.redis.*} and the application's beans that customize them: with the
 * servers, users and TLS that the application would have if Lettuce were its client.
 */
final class OwnRedisConnection implements AutoCloseable {

    private static final List<Class<?>> CUSTOMIZERS = List.of(
            DataRedisConnectionDetails.class,
            RedisStandaloneConfiguration.class,
            RedisSentinelConfiguration.class,
            RedisClusterConfiguration.class,
            RedisStaticMasterReplicaConfiguration.class,
            LettuceClientConfigurationBuilderCustomizer.class,
            LettuceClientOptionsBuilderCustomizer.class,
            ClientResourcesBuilderCustomizer.class,
            SslBundles.class);

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    OwnRedisConnection(ListableBeanFactory application, ConfigurableEnvironment settings) {
        ConfigurableEnvironment environment =
                new AbstractEnvironment() {}; // without sources, for the order of the application's
        environment.merge(settings);
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource("permits", Map.of("spring.data.redis.client-type", "lettuce")));
        context.setEnvironment(environment);
        for (Class<?> type : CUSTOMIZERS) {
            BeanFactoryUtils.beansOfTypeIncludingAncestors(application, type)
                    .forEach(context.getBeanFactory()::registerSingleton);
        }
        context.register(DataRedisAutoConfiguration.class);
        context.refresh();
    }

    LettuceConnectionFactory factory() {
        return context.getBean(LettuceConnectionFactory.class);
    }

    @Override
    public void close() {
        context.close();
    }
}
