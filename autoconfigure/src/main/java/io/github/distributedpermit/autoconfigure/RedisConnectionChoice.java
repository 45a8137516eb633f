package io.github.distributedpermit.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Chooses the connection factory of the application whose server stores the permits: the one that the settings name, or
 * the one that is marked with {@link PermitRedisConnectionFactory}, or the only one or primary one.
 */
final class RedisConnectionChoice {

    private static final String PROPERTY = "distributed-permit.redis.connection-factory";

    /** How an application declares a connection for permits only. */
    static final String DECLARE = "declare a LettuceConnectionFactory bean with @Bean(defaultCandidate = false) and"
            + " @PermitRedisConnectionFactory";

    private final ListableBeanFactory beans;

    RedisConnectionChoice(ListableBeanFactory beans) {
        this.beans = beans;
    }

    LettuceConnectionFactory choose(
            @Nullable String named,
            ObjectProvider<RedisConnectionFactory> marked,
            ObjectProvider<RedisConnectionFactory> all) {
        RedisConnectionFactory factory;
        if (named != null && !named.isBlank()) {
            factory = named(named.strip());
        } else {
            factory = marked.getIfUnique();
            if (factory == null && marked.stream().findAny().isPresent()) {
                throw new UnusableBackendException(
                        "Several RedisConnectionFactory beans are marked with @PermitRedisConnectionFactory",
                        "Mark one of them only, or set " + PROPERTY + " to one of " + names());
            }
            if (factory == null) {
                factory = onlyOrPrimary(all);
            }
        }
        if (factory instanceof LettuceConnectionFactory lettuce) {
            return lettuce;
        }
        throw new UnusableBackendException(
                "Permits in Redis need Lettuce, but the application connects with "
                        + AopUtils.getTargetClass(factory).getName(),
                "Set spring.data.redis.client-type=lettuce and have io.lettuce:lettuce-core on the classpath; or keep that"
                        + " client for everything else, and " + DECLARE);
    }

    private RedisConnectionFactory named(String name) {
        if (!beans.containsBean(name)) {
            throw new UnusableBackendException(
                    "%s is '%s', but the application has no bean of that name".formatted(PROPERTY, name),
                    "Set it to the name of a LettuceConnectionFactory bean; there are: " + names());
        }
        if (!beans.isTypeMatch(name, RedisConnectionFactory.class)) {
            Class<?> type = beans.getType(name);
            throw new UnusableBackendException(
                    "%s is '%s', but that bean is no RedisConnectionFactory%s"
                            .formatted(PROPERTY, name, type == null ? "" : " but a " + type.getName()),
                    "Set it to the name of a LettuceConnectionFactory bean; there are: " + names());
        }
        return beans.getBean(name, RedisConnectionFactory.class);
    }

    private RedisConnectionFactory onlyOrPrimary(ObjectProvider<RedisConnectionFactory> all) {
        RedisConnectionFactory factory = all.getIfUnique();
        if (factory != null) {
            return factory;
        }
        List<String> names = candidates().toList();
        if (names.isEmpty()) {
            throw new UnusableBackendException(
                    "Permits are to live in Redis, but the application has no RedisConnectionFactory",
                    "Add the dependency %s, whose auto-configuration makes one, or define one"
                            .formatted(Backend.REDIS.dependency()));
        }
        throw new UnusableBackendException(
                "Permits are to live in Redis, but the application has several connections to choose from: " + names(),
                "Set %s=%s, or mark the bean with @PermitRedisConnectionFactory or @Primary"
                        .formatted(PROPERTY, names.get(0)));
    }

    private String names() {
        String names = candidates().collect(Collectors.joining(", "));
        return names.isEmpty() ? "none" : names;
    }

    private Stream<String> candidates() {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedisConnectionFactory.class));
    }
}
