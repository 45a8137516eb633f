package io.github.distributedpermit.autoconfigure;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Where the state of permits lives. */
public enum Backend {

    /** Redis, on the application's own connection ({@code spring.data.redis.*}) with Lettuce. */
    REDIS(
            "org.springframework.boot:spring-boot-starter-data-redis",
            "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
            "io.lettuce.core.RedisClient"),

    /** Consul, on the application's own connection ({@code spring.cloud.consul.*}). */
    CONSUL(
            "org.springframework.cloud:spring-cloud-consul-discovery",
            "org.springframework.cloud.consul.ConsulProperties"),

    /** ZooKeeper, with Curator. */
    ZOOKEEPER("org.apache.curator:curator-recipes", "org.apache.curator.framework.CuratorFramework"),

    /** The application's relational database. Without {@code distributed-permit.backend}, only where no other client is. */
    JDBC(
            "org.springframework.boot:spring-boot-starter-jdbc",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"),

    /** The memory of this process: for a single instance and for tests. Never taken unless asked for. */
    LOCAL("");

    private final String dependency;
    private final List<String> classes;

    Backend(String dependency, String... classes) {
        this.dependency = dependency;
        this.classes = List.of(classes);
    }

    /** What a user adds to the build. */
    String dependency() {
        return dependency;
    }

    /** Whether client and connection are on the classpath. */
    boolean isPresent(@Nullable ClassLoader classLoader) {
        return classes.stream().allMatch(name -> ClassUtils.isPresent(name, classLoader));
    }

    /** As in {@code distributed-permit.backend}. */
    String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
