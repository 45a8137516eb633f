package io.github.distributedpermit.benchmark.footprint;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.backend.consul.ConsulPermitBackend;
import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.zookeeper.ZooKeeperPermitBackend;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The class paths of the applications, taken from the benchmark's own, which has the jars of all peers besides. */
public final class ClassPath {

    /** What Spring Boot's starter for Redis brings, by the beginning of the names of the jars. */
    private static final List<String> REDIS = List.of(
            "spring-",
            "lettuce-core-",
            "redis-authx-core-",
            "netty-",
            "reactor-core-",
            "reactive-streams-",
            "slf4j-api-",
            "logback-",
            "log4j-",
            "jul-to-slf4j-",
            "jakarta.annotation-api-",
            "snakeyaml-",
            "commons-logging-",
            "micrometer-commons-",
            "micrometer-observation-",
            "jspecify-");

    private ClassPath() {}

    static List<Path> redis() {
        return Stream.concat(Stream.of(source(ClassPath.class)), jars(REDIS)).toList();
    }

    /** The starter of this library brings nothing besides its own jars. */
    static List<Path> redisAndStarter() {
        return Stream.concat(redis().stream(), own().stream()).toList();
    }

    /** The jars of the starter, without those of others that it brings. */
    public static List<Path> own() {
        return Stream.of(
                        DistributedPermit.class,
                        RedisPermitBackend.class,
                        ConsulPermitBackend.class,
                        ZooKeeperPermitBackend.class,
                        DistributedPermitAutoConfiguration.class)
                .map(ClassPath::source)
                .toList();
    }

    static String argument(List<Path> entries) {
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static Stream<Path> jars(List<String> names) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(entry -> names.stream()
                        .anyMatch(name -> String.valueOf(entry.getFileName()).startsWith(name)));
    }

    private static Path source(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException(type + " is not from the class path");
        }
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
