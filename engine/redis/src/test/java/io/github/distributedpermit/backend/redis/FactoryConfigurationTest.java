package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** However an application has declared its factory, permits use the server that the factory uses. */
class FactoryConfigurationTest extends RedisTest {

    @Test
    void serverOfAnAddressIsUsed() {
        RedisServer server = open(RedisServer.started("--save", ""));
        RedisConfiguration configuration =
                LettuceConnectionFactory.createRedisConfiguration("redis://127.0.0.1:" + server.port() + "/3");
        TestMember member = open(new TestMember(started(new LettuceConnectionFactory(configuration))));

        assertThat(member.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(stored(server, 3)).as("in the database of the address").isNotEmpty();
    }

    /** As of a refresh scope. The fields of such a proxy have no values. */
    @Test
    void serverOfAFactoryBehindAClassProxyIsUsed() {
        RedisServer server = open(RedisServer.started("--save", ""));
        RedisConfiguration configuration =
                LettuceConnectionFactory.createRedisConfiguration("redis://127.0.0.1:" + server.port() + "/3");
        LettuceConnectionFactory target = started(new LettuceConnectionFactory(configuration));
        TestMember member = open(new TestMember(proxy(new SingletonTargetSource(target))));

        assertThat(member.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(stored(server, 3)).as("in the database of the address").isNotEmpty();
    }

    /** As after a refresh of its scope. Its threads are the same, as with Spring Boot. */
    @Test
    void serverOfTheFactoryThatReplacesAnotherIsUsed() {
        RedisServer former = open(RedisServer.started("--save", ""));
        RedisServer next = open(RedisServer.started("--save", ""));
        HotSwappableTargetSource target = new HotSwappableTargetSource(factory(former));
        TestMember member = open(new TestMember(proxy(target), TestMember.WITHOUT_GRACE));
        assertThat(member.queue(key(), 1, 1).permits()).isEqualTo(1);

        target.swap(factory(next));

        await().atMost(TestMember.PATIENCE).ignoreExceptions().untilAsserted(() -> {
            member.queue(key(), 1, 1);
            assertThat(stored(next, 0)).isNotEmpty();
        });
    }

    @Test
    void passwordOfARestartedFactoryIsUsed() {
        RedisServer server = open(RedisServer.startedWithPassword("former"));
        RedisStaticMasterReplicaConfiguration nodes =
                new RedisStaticMasterReplicaConfiguration("127.0.0.1", server.port());
        nodes.setPassword("former");
        LettuceConnectionFactory factory =
                started(new LettuceConnectionFactory(nodes, factory(server).getClientConfiguration()));
        TestMember member = open(new TestMember(factory, TestMember.WITHOUT_GRACE));
        assertThat(member.queue(key(), 1, 1).permits()).isEqualTo(1);

        factory.setPassword("next");
        factory.stop();
        server.ask(commands -> {
            commands.configSet("requirepass", "next");
            return commands.clientKill(KillArgs.Builder.typeNormal());
        });
        factory.start();

        await().atMost(TestMember.PATIENCE)
                .ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(member.queue(key(), 1, 1).permits()).isEqualTo(1));
    }

    @Test
    void allOfAGeneralConfigurationCounts() {
        RedisStandaloneConfiguration standalone = new RedisStandaloneConfiguration("127.0.0.7", 7777);
        standalone.setDatabase(3);
        standalone.setUsername("permits");
        standalone.setPassword("secret");
        RedisConfiguration general = standalone;

        var uri = new ServerUris(new LettuceConnectionFactory(general), Duration.ofSeconds(1)).single();

        assertThat(uri.getHost()).isEqualTo("127.0.0.7");
        assertThat(uri.getPort()).isEqualTo(7777);
        assertThat(uri.getDatabase()).isEqualTo(3);
        var credentials = uri.getCredentialsProvider().resolveCredentials().block(Duration.ofSeconds(1));
        assertThat(credentials).isNotNull();
        assertThat(credentials.getUsername()).isEqualTo("permits");
    }

    private static List<String> stored(RedisServer server, int database) {
        return server.ask(commands -> {
            commands.select(database);
            return commands.keys("permits:*");
        });
    }

    private static LettuceConnectionFactory proxy(TargetSource target) {
        ProxyFactory proxies = new ProxyFactory();
        proxies.setTargetSource(target);
        proxies.setProxyTargetClass(true);
        return (LettuceConnectionFactory) proxies.getProxy();
    }

    private LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        open(factory::destroy);
        return factory;
    }
}
