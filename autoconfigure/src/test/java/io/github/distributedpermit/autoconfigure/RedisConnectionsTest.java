package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.testsupport.RedisCluster;
import io.github.distributedpermit.testsupport.RedisSentinel;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * The ways in which applications connect to Redis, each with real servers: two applications share a limit, and one is
 * notified of the permit that the other returns. The re-check is far away, so that only a notification can bring it.
 */
class RedisConnectionsTest {

    private static final String USER = "app";
    private static final String PASSWORD = "secret";
    private static final String READ_FROM_REPLICAS = "spring.data.redis.lettuce.read-from=replica";

    @Test
    void databaseIndexSeparatesPermitsAndHandsOver() {
        try (RedisServer server = RedisServer.started()) {
            shareALimit(on(server).withPropertyValues("spring.data.redis.database=5"));
            List<String> places = server.ask(commands -> {
                commands.select(5);
                List<String> found = commands.keys("distributed-permit:*");
                commands.select(0);
                assertThat(commands.keys("distributed-permit:*")).isEmpty();
                return found;
            });
            assertThat(places).isNotEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void bothProtocolsServe(ProtocolVersion protocol) {
        try (RedisServer server = RedisServer.started()) {
            shareALimit(on(server)
                    .withBean(
                            LettuceClientOptionsBuilderCustomizer.class,
                            () -> options -> options.protocolVersion(protocol)));
        }
    }

    @Test
    void userWithAPasswordConnects() {
        try (RedisServer server = withUser()) {
            shareALimit(on(server)
                    .withPropertyValues(
                            "spring.data.redis.username=" + USER, "spring.data.redis.password=" + PASSWORD));
        }
    }

    @Test
    void applicationWithAnotherClientHasAConnectionForPermitsWithTheSameSettings() {
        try (RedisServer server = withUser()) {
            shareALimit(on(server)
                    .withPropertyValues(
                            "spring.data.redis.client-type=jedis",
                            "spring.data.redis.username=" + USER,
                            "spring.data.redis.password=" + PASSWORD,
                            "distributed-permit.redis.own-connection=true"));
        }
    }

    @Test
    void addressMayBeAUrl() {
        try (RedisServer server = withUser()) {
            shareALimit(base().withPropertyValues("spring.data.redis.url=redis://%s:%s@127.0.0.1:%d/3"
                    .formatted(USER, PASSWORD, server.port())));
        }
    }

    @Test
    void pooledConnectionsStayThoseOfTheApplication() {
        try (RedisServer server = RedisServer.started()) {
            shareALimit(on(server)
                    .withPropertyValues(
                            "spring.data.redis.lettuce.pool.enabled=true",
                            "spring.data.redis.lettuce.pool.max-active=1"));
        }
    }

    @Test
    void staticMasterIsUsedWhateverReadsPrefer() {
        try (RedisSentinel servers = RedisSentinel.start(1)) {
            shareALimit(base().withPropertyValues(
                            "spring.data.redis.masterreplica.nodes=127.0.0.1:%d,127.0.0.1:%d"
                                    .formatted(
                                            servers.replicas().get(0).port(),
                                            servers.master().port()),
                            READ_FROM_REPLICAS));
        }
    }

    @Test
    void sentinelHasAPasswordOfItsOwn() {
        try (RedisServer master = RedisServer.startedWithPassword(PASSWORD);
                RedisServer sentinel = RedisServer.startedSentinel("""
                        sentinel monitor permits 127.0.0.1 %d 1
                        sentinel auth-pass permits %s
                        user watcher on >watching +@all
                        """.formatted(master.port(), PASSWORD))) {
            shareALimit(base().withPropertyValues(
                            "spring.data.redis.sentinel.master=permits",
                            "spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port(),
                            "spring.data.redis.sentinel.username=watcher",
                            "spring.data.redis.sentinel.password=watching",
                            "spring.data.redis.password=" + PASSWORD,
                            READ_FROM_REPLICAS));
        }
    }

    @Test
    void clusterIsUsedWhateverReadsPrefer() {
        try (RedisCluster cluster = RedisCluster.start()) {
            String nodes = cluster.nodes().stream()
                    .map(node -> "127.0.0.1:" + node.port())
                    .collect(Collectors.joining(","));
            shareALimit(base().withPropertyValues("spring.data.redis.cluster.nodes=" + nodes, READ_FROM_REPLICAS));
        }
    }

    private static RedisServer withUser() {
        return RedisServer.started("--user", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all");
    }

    private static ApplicationContextRunner on(RedisServer server) {
        return base().withPropertyValues("spring.data.redis.port=" + server.port());
    }

    private static ApplicationContextRunner base() {
        return plain().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.host=127.0.0.1",
                        "distributed-permit.backend=redis",
                        "distributed-permit.redis.new-server-grace=0s",
                        "distributed-permit.permits.connections.limit=1")
                // no lost notification is made up for
                .withBean(
                        CoreSettings.class,
                        () -> CoreSettings.DEFAULTS.toBuilder()
                                .commandTimeout(Duration.ofSeconds(5))
                                .lease(Duration.ofMinutes(10))
                                .recheck(Duration.ofMinutes(5))
                                .build());
    }

    private static void shareALimit(ApplicationContextRunner runner) {
        runner.run(one -> runner.run(other -> {
            Permits here = permits(one);
            Permits there = permits(other);
            CompletableFuture<Permit> waiting;
            try (Permit permit = here.acquire("connections")) {
                assertThat(permit.isHeld()).isTrue();
                waiting = there.acquireAsync("connections");
                await().until(() -> here.state("connections").waiting() == 1);
                assertThat(waiting).isNotDone();
            }
            try (Permit permit = waiting.get(60, SECONDS)) {
                assertThat(permit.isHeld()).isTrue();
            }
        }));
    }

    private static Permits permits(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        Starts.connect(context);
        return context.getBean(Permits.class);
    }
}
