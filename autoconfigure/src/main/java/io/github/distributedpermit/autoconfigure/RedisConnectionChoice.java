package io.github.distributedpermit.autoconfigure;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Chooses the connection factory of the application whose server stores the permits: the one
 * that is marked with {@link PermitRedisConnectionFactory}, or the only one or primary one.
 */
final class RedisConnectionChoice {

    /** How an application declares a connection for permits only. */
    static final String DECLARE = "declare a LettuceConnectionFactory bean with @Bean(defaultCandidate = false) and"
            + " @PermitRedisConnectionFactory";

    private final ListableBeanFactory beans;

    RedisConnectionChoice(ListableBeanFactory beans) {
        this.beans = beans;
    }

    LettuceConnectionFactory choose(
            ObjectProvider<OwnRedisConnection> own,
            ObjectProvider<RedisConnectionFactory> marked,
            ObjectProvider<RedisConnectionFactory> all) {
        OwnRedisConnection connection = own.getIfAvailable();
        if (connection != null) {
            if (marked.stream().findAny().isPresent()) {
                throw new UnusableBackendException(
                        "distributed-permit.redis.own-connection is true, and a bean is marked with @PermitRedisConnectionFactory",
                        "Keep one of both");
            }
            return connection.factory();
        }
        RedisConnectionFactory factory = marked.getIfUnique();
        if (factory == null && marked.stream().findAny().isPresent()) {
            throw new UnusableBackendException(
                    "Several RedisConnectionFactory beans are marked with @PermitRedisConnectionFactory",
                    "Mark one of them only, of " + names());
        }
        if (factory == null) {
            factory = onlyOrPrimary(all);
        }
        if (factory instanceof LettuceConnectionFactory lettuce) {
            return lettuce;
        }
        throw new UnusableBackendException(
                "Permits in Redis need Lettuce, but the application connects with "
                        + AopUtils.getTargetClass(factory).getName(),
                "Keep that client for everything else, and set distributed-permit.redis.own-connection=true: permits then have a Lettuce"
                        + " connection of their own, with the settings spring.data.redis.*. For another server, "
                        + DECLARE);
    }

    private RedisConnectionFactory onlyOrPrimary(ObjectProvider<RedisConnectionFactory> all) {
        RedisConnectionFactory factory = all.getIfUnique();
        if (factory != null) {
            return factory;
        }
        String names = names();
        if (names.isEmpty()) {
            throw new UnusableBackendException(
                    "Permits are to live in Redis, but the application has no RedisConnectionFactory",
                    "Add the dependency %s, whose auto-configuration makes one, or define one"
                            .formatted(Backend.REDIS.dependency()));
        }
        throw new UnusableBackendException(
                "Permits are to live in Redis, but the application has several connections to choose from: " + names,
                "Mark one of the beans with @PermitRedisConnectionFactory or @Primary");
    }

    private String names() {
        return String.join(
                ", ", BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class));
    }
}
