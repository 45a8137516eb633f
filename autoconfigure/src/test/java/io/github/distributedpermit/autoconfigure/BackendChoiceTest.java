package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.PermitAdvisor;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Which store is taken, and what is said when none can be. Never a silently local one. */
@ExtendWith(OutputCaptureExtension.class)
class BackendChoiceTest {

    private static final String CONSUL = "org.springframework.cloud.consul.ConsulProperties";
    private static final String CURATOR = "org.apache.curator.framework.CuratorFramework";

    private final ApplicationContextRunner withRedis = plain().withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    private final FilteredClassLoader jedisOnly = new FilteredClassLoader(
            "io.lettuce",
            "org.springframework.data.redis.connection.lettuce",
            "org.springframework.cloud.consul",
            "org.apache.curator");

    private final FilteredClassLoader noClient = new FilteredClassLoader(
            "io.lettuce",
            "org.springframework.data.redis",
            "redis.clients",
            "org.springframework.cloud.consul",
            "org.apache.curator",
            "org.springframework.boot.jdbc");

    private static ApplicationContextRunner plain() {
        return Starts.plain().withClassLoader(Starts.redisOnly());
    }

    @Test
    void onlyBackendPresentIsTakenBesideADatabaseAndTheLogSaysWhy(CapturedOutput output) {
        assertThat(Backend.JDBC.isPresent(Starts.redisOnly())).isTrue();
        withRedis
                .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBean(PermitBackend.class)
                        .isInstanceOf(RedisPermitBackend.class));
        assertThat(output)
                .contains("of the permits in 'redis'")
                .contains("the only store whose client is on the class path");
    }

    @Test
    void localIsTakenWhenAskedForAlsoWithRedisPresent(CapturedOutput output) {
        withRedis
                .withPropertyValues("distributed-permit.backend=local")
                .run(context ->
                        assertThat(context).getBean(PermitBackend.class).isInstanceOf(LocalPermitBackend.class));
        assertThat(output).contains("of the permits in 'local', which distributed-permit.backend names, and knows");
    }

    @Test
    void nameOfABackendIsReadLeniently() {
        plain().withPropertyValues("distributed-permit.backend=LOCAL")
                .run(context -> assertThat(context).hasSingleBean(LocalPermitBackend.class));
    }

    @Test
    void noBackendStopsTheStartAndSaysWhatToAdd() {
        FailureAnalysis analysis = analysis(plain().withClassLoader(noClient));
        assertThat(analysis.getDescription()).contains("No store for permits").doesNotContain("Jedis");
        assertThat(analysis.getAction())
                .contains("org.springframework.boot:spring-boot-starter-data-redis")
                .contains("org.springframework.boot:spring-boot-starter-jdbc (the application's database)")
                .contains("distributed-permit.backend=local");
    }

    @Test
    void severalBackendsStopTheStartAndSayWhatToSet() {
        FailureAnalysis analysis =
                analysis(withRedis.withClassLoader(new PretendingClassLoader(Starts.redisOnly(), CONSUL, CURATOR)));
        assertThat(analysis.getDescription()).contains("Several").contains("redis, consul, zookeeper");
        assertThat(analysis.getAction()).contains("distributed-permit.backend=redis");
    }

    @Test
    void oneOfSeveralBackendsIsTakenWhenAskedFor() {
        withRedis
                .withClassLoader(new PretendingClassLoader(Starts.redisOnly(), CONSUL))
                .withPropertyValues("distributed-permit.backend=redis")
                .run(context -> assertThat(context).hasSingleBean(RedisPermitBackend.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "consul", "zookeeper", "jdbc"})
    void askedForWithoutItsClientStopsTheStartAndSaysWhatToAdd(String backend) {
        FailureAnalysis analysis =
                analysis(plain().withClassLoader(noClient).withPropertyValues("distributed-permit.backend=" + backend));
        assertThat(analysis.getDescription())
                .contains("distributed-permit.backend is " + backend)
                .contains("not on the classpath")
                .doesNotContain("Jedis");
        assertThat(analysis.getAction())
                .contains("Add the dependency "
                        + Backend.valueOf(backend.toUpperCase(java.util.Locale.ROOT))
                                .dependency());
    }

    @Test
    void unknownBackendStopsTheStart() {
        FailureAnalysis analysis = analysis(plain().withPropertyValues("distributed-permit.backend=etcd"));
        assertThat(analysis.getDescription())
                .contains("distributed-permit.backend")
                .contains("etcd");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "redis"})
    void jedisAloneStopsTheStartAndSaysHowToDeclareAConnectionForPermits(String backend) {
        FailureAnalysis analysis = analysis(
                plain().withClassLoader(jedisOnly).withPropertyValues("distributed-permit.backend=" + backend));
        assertThat(analysis.getDescription()).contains("Jedis").contains("io.lettuce:lettuce-core");
        assertThat(analysis.getAction())
                .contains("Add the dependency io.lettuce:lettuce-core")
                .contains("spring.data.redis.client-type=jedis")
                .contains("LettuceConnectionFactory")
                .contains(backend.isEmpty() ? "distributed-permit.backend=jdbc" : "")
                .contains("@Bean(defaultCandidate = false) and @PermitRedisConnectionFactory");
    }

    @Test
    void connectionsOfJedisStopTheStart() {
        FailureAnalysis analysis = analysis(withRedis.withPropertyValues("spring.data.redis.client-type=jedis"));
        assertThat(analysis.getDescription()).contains("need Lettuce").contains(JedisConnectionFactory.class.getName());
        assertThat(analysis.getAction())
                .contains("distributed-permit.redis.own-connection=true")
                .contains("@Bean(defaultCandidate = false) and @PermitRedisConnectionFactory");
    }

    @Test
    void redisWithoutAConnectionStopsTheStart() {
        FailureAnalysis analysis = analysis(plain());
        assertThat(analysis.getDescription()).contains("no RedisConnectionFactory");
        assertThat(analysis.getAction()).contains("spring-boot-starter-data-redis");
    }

    @Test
    void severalConnectionsStopTheStart() {
        FailureAnalysis analysis = analysis(withTwo());
        assertThat(analysis.getDescription()).contains("several connections").contains("one, two");
        assertThat(analysis.getAction())
                .contains("@PermitRedisConnectionFactory")
                .contains("@Primary");
    }

    @Test
    void markedConnectionWinsOverThePrimaryOne() {
        plain().withUserConfiguration(MarkedAndPrimary.class)
                .run(context -> assertThat(address(context)).contains("marked.invalid"));
    }

    @Test
    void markedConnectionServesPermitsBesideTheOneThatBootConfigures() {
        withRedis.withUserConfiguration(MarkedOnly.class).run(context -> {
            assertThat(address(context)).contains("marked.invalid");
            assertThat(context.getBeanProvider(RedisConnectionFactory.class).getObject())
                    .isNotSameAs(context.getBean("marked"));
        });
    }

    @Test
    void markedConnectionServesPermitsInAnApplicationThatUsesJedis() {
        withRedis
                .withUserConfiguration(MarkedOnly.class)
                .withPropertyValues("spring.data.redis.client-type=jedis")
                .run(context -> {
                    assertThat(address(context)).contains("marked.invalid");
                    assertThat(context.getBeanProvider(RedisConnectionFactory.class)
                                    .getObject())
                            .isInstanceOf(JedisConnectionFactory.class);
                });
    }

    @Test
    void severalMarkedConnectionsStopTheStart() {
        FailureAnalysis analysis = analysis(plain().withUserConfiguration(TwoMarked.class));
        assertThat(analysis.getDescription()).contains("Several").contains("@PermitRedisConnectionFactory");
        assertThat(analysis.getAction()).contains("one, two").contains("Mark one of them only");
    }

    private static ApplicationContextRunner withTwo() {
        return plain().withBean("one", RedisConnectionFactory.class, () -> connection("one"))
                .withBean("two", RedisConnectionFactory.class, () -> connection("two"));
    }

    private static LettuceConnectionFactory connection(String host) {
        return new LettuceConnectionFactory(new RedisStandaloneConfiguration(host + ".invalid", 6379));
    }

    private static String address(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        return context.getBean(PermitBackend.class).address();
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedOnly {

        @Bean(defaultCandidate = false)
        @PermitRedisConnectionFactory
        LettuceConnectionFactory marked() {
            return connection("marked");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoMarked {

        @Bean
        @PermitRedisConnectionFactory
        LettuceConnectionFactory one() {
            return connection("one");
        }

        @Bean
        @PermitRedisConnectionFactory
        LettuceConnectionFactory two() {
            return connection("two");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedAndPrimary {

        @Bean
        @PermitRedisConnectionFactory
        LettuceConnectionFactory other() {
            return connection("marked");
        }

        @Bean
        @Primary
        LettuceConnectionFactory primary() {
            return connection("primary");
        }
    }

    @Test
    void backendOfTheApplicationWinsOverAll() {
        LocalPermitBackend own = new LocalPermitBackend();
        withRedis
                .withBean("own", PermitBackend.class, () -> own)
                .withPropertyValues("distributed-permit.backend=redis")
                .run(context -> assertThat(context).getBean(PermitBackend.class).isSameAs(own));
        plain().withClassLoader(jedisOnly)
                .withBean("own", PermitBackend.class, () -> own)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void nothingIsThereWhenDisabled() {
        plain().withClassLoader(jedisOnly)
                .withPropertyValues("distributed-permit.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(Permits.class)
                        .doesNotHaveBean(PermitAdvisor.class)
                        .doesNotHaveBean(PermitBackend.class));
    }
}
