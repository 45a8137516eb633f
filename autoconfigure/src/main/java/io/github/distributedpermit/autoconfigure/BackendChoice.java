package io.github.distributedpermit.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * What was asked for and what is there.
 *
 * @param wanted by {@code distributed-permit.backend}
 * @param present on the classpath, client and connection; never {@code local}, which has to be asked for
 * @param classLoader of the application
 */
record BackendChoice(
        Optional<Backend> wanted,
        List<Backend> present,
        @Nullable ClassLoader classLoader) {

    private static final String JEDIS = "redis.clients.jedis.Jedis";

    static BackendChoice of(Environment environment, @Nullable ClassLoader classLoader) {
        Optional<Backend> wanted = Optional.ofNullable(Binder.get(environment)
                .bind("distributed-permit.backend", Backend.class)
                .orElse(null));
        List<Backend> present = Stream.of(Backend.values())
                .filter(backend -> backend != Backend.LOCAL && backend.isPresent(classLoader))
                .toList();
        // Nearly every application has a database, so that it decides nothing beside a client that was added for
        // permits.
        List<Backend> others =
                present.stream().filter(backend -> backend != Backend.JDBC).toList();
        boolean database = others.isEmpty() && !ClassUtils.isPresent(JEDIS, classLoader);
        return new BackendChoice(wanted, database ? present : others, classLoader);
    }

    /** The one to use: what was asked for, else the only one there. */
    Optional<Backend> taken() {
        if (wanted.isPresent()) {
            return wanted;
        }
        return present.size() == 1 ? Optional.of(present.get(0)) : Optional.empty();
    }

    /** Why this backend is in use, for people; empty if the application has defined it as a bean. */
    String reason(String backend) {
        if (taken().filter(taken -> taken.id().equals(backend)).isEmpty()) {
            return "";
        }
        if (wanted.isPresent()) {
            return ", which distributed-permit.backend names,";
        }
        return backend.equals(Backend.JDBC.id())
                ? ", since no client of another store is on the class path,"
                : ", the only store whose client is on the class path,";
    }

    /** Why no backend could be made, and what to do. */
    UnusableBackendException failure() {
        Optional<Backend> taken = taken();
        if (taken.isPresent()) {
            return unusable(taken.get());
        }
        if (present.isEmpty()) {
            return new UnusableBackendException(
                    "No store for permits: neither the client of a backend is on the classpath, nor is"
                            + " distributed-permit.backend set" + jedisHint(),
                    "%s%s, or set distributed-permit.backend=local for a single instance or a test"
                            .formatted(
                                    jedisOnly()
                                            ? addLettuce()
                                            : "Add the dependency %s (Redis), %s (Consul), %s (ZooKeeper) or %s (the application's database)"
                                                    .formatted(
                                                            Backend.REDIS.dependency(),
                                                            Backend.CONSUL.dependency(),
                                                            Backend.ZOOKEEPER.dependency(),
                                                            Backend.JDBC.dependency()),
                                    Backend.JDBC.isPresent(classLoader)
                                            ? ", or set distributed-permit.backend=jdbc for the application's database"
                                            : ""));
        }
        List<String> ids = present.stream().map(Backend::id).toList();
        return new UnusableBackendException(
                "Several stores for permits could be used: " + String.join(", ", ids),
                "Set distributed-permit.backend to one of them, such as distributed-permit.backend=" + ids.get(0));
    }

    private UnusableBackendException unusable(Backend backend) {
        if (backend.isPresent(classLoader)) {
            return new UnusableBackendException(
                    "The client of %s is on the classpath, but the application has no connection to it for permits"
                            .formatted(backend.id()),
                    "Let Boot configure the connection (its auto-configuration may be excluded), or define a bean of type"
                            + " PermitBackend");
        }
        boolean jedis = backend == Backend.REDIS && jedisOnly();
        return new UnusableBackendException(
                "distributed-permit.backend is %s, but its client is not on the classpath%s"
                        .formatted(backend.id(), jedis ? jedisHint() : ""),
                jedis ? addLettuce() : "Add the dependency " + backend.dependency());
    }

    private boolean jedisOnly() {
        return ClassUtils.isPresent(JEDIS, classLoader)
                && !ClassUtils.isPresent("io.lettuce.core.RedisClient", classLoader);
    }

    private String jedisHint() {
        return jedisOnly() ? ". Jedis is, but permits need Lettuce (io.lettuce:lettuce-core)" : "";
    }

    /** With both clients on the class path Spring Boot connects with Lettuce, unless the application chooses Jedis. */
    private static String addLettuce() {
        return "Add the dependency io.lettuce:lettuce-core, with which Spring Boot then connects; or, to keep Jedis for"
                + " everything else, also set spring.data.redis.client-type=jedis and " + RedisConnectionChoice.DECLARE;
    }
}
