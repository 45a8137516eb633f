package io.github.distributedpermit.sample.server;

import java.util.stream.Stream;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Permits are kept in Redis, and no setting says in which. */
final class NoRedisOfOnesOwn implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Environment environment = context.getEnvironment();
        return environment.getProperty("distributed-permit.backend", "redis").equals("redis")
                && Stream.of("host", "port", "url", "sentinel.master", "cluster.nodes", "cluster.nodes[0]")
                        .noneMatch(name -> environment.containsProperty("spring.data.redis." + name));
    }
}
