package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.testsupport.RedisServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.autoconfigure.LifecycleMvcEndpointAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshEndpointAutoConfiguration;
import org.springframework.cloud.autoconfigure.WritableEnvironmentEndpointAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Whole applications with all of their actuator's endpoints, all that we log shown, and a secret that must be nowhere: one
 * application that is let in by it, one that is refused with it, and one that does not start for that.
 */
@ExtendWith(OutputCaptureExtension.class)
class SecretsTest {

    private static final String RIGHT = "right-canary-" + UUID.randomUUID();
    private static final String WRONG = "wrong-canary-" + UUID.randomUUID();

    @Test
    void passwordsOfRedisAreNeverTold(CapturedOutput output) {
        try (RedisServer server = RedisServer.startedWithPassword(RIGHT)) {
            String backend = "distributed-permit.backend=redis";
            String address = "spring.data.redis.url=redis://default:%s@127.0.0.1:" + server.port();
            whileLetIn(RIGHT, List.of(backend, address.formatted(RIGHT)), () -> {
                List<String> refused = List.of(
                        backend,
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + server.port(),
                        "spring.data.redis.password=" + WRONG);
                refused(WRONG, refused);
                doesNotStart(WRONG, refused);
                doesNotStart(WRONG, List.of(backend, address.formatted(WRONG)));
            });
        }
        checkLog(output, RIGHT, WRONG);
    }

    @Test
    void tokensOfConsulAreNeverTold(CapturedOutput output) {
        String right = UUID.randomUUID().toString();
        String wrong = UUID.randomUUID().toString();
        try (ConsulServer server = ConsulServer.startWithAccessControl(right)) {
            List<String> where = List.of(
                    "distributed-permit.backend=consul",
                    "spring.cloud.consul.port=" + server.address().getPort());
            whileLetIn(right, with(where, "distributed-permit.consul.token=" + right), () -> {
                List<String> refused = with(where, "spring.cloud.consul.discovery.acl-token=" + wrong);
                refused(wrong, refused);
                doesNotStart(wrong, refused);
                doesNotStart(wrong, with(where, "distributed-permit.consul.token=" + wrong + "\n" + wrong));
            });
            // as in a file that ends with its line
            whileLetIn(right, with(where, "distributed-permit.consul.token=" + right + "\n"), () -> {});
        }
        checkLog(output, right, wrong);
    }

    @Test
    void passwordsOfZooKeeperAreNeverTold(CapturedOutput output) throws Exception {
        try (TestingServer server = new TestingServer()) {
            List<String> where =
                    List.of("distributed-permit.backend=zookeeper", "zk.where=" + server.getConnectString());
            whileLetIn(RIGHT, with(where, "zk.password=" + RIGHT), () -> {
                List<String> refused = with(where, "zk.password=" + WRONG);
                refused(WRONG, refused);
                doesNotStart(WRONG, refused);
            });
        }
        checkLog(output, RIGHT, WRONG);
    }

    @Test
    void passwordsOfTheDatabaseAreNeverTold(CapturedOutput output) throws Exception {
        try (EmbeddedPostgres server = TestPostgres.builder().start()) {
            requirePassword(server);
            String address = "spring.datasource.url=jdbc:postgresql://localhost:" + server.getPort() + "/postgres";
            List<String> where = List.of(
                    "distributed-permit.backend=jdbc",
                    "distributed-permit.jdbc.initialize-schema=always",
                    "spring.datasource.username=postgres");
            whileLetIn(RIGHT, with(with(where, address), "spring.datasource.password=" + RIGHT), () -> {
                List<String> refused = with(with(where, address), "spring.datasource.password=" + WRONG);
                refused(WRONG, refused);
                doesNotStart(WRONG, refused);
                List<String> inAddress = with(where, address + "?user=postgres&password=" + WRONG);
                refused(WRONG, inAddress);
                doesNotStart(WRONG, inAddress);
            });
        }
        checkLog(output, RIGHT, WRONG);
    }

    private static void requirePassword(EmbeddedPostgres server) throws SQLException, IOException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("ALTER USER postgres PASSWORD '" + RIGHT + "'");
            try (ResultSet file = statement.executeQuery("SHOW hba_file")) {
                file.next();
                Files.writeString(Path.of(file.getString(1)), "host all all all scram-sha-256\n");
            }
            statement.execute("SELECT pg_reload_conf()");
        }
        await().until(() -> {
            try (Connection connection = server.getPostgresDatabase().getConnection()) {
                return !connection.isValid(1);
            } catch (SQLException e) {
                return true;
            }
        });
    }

    /** Does the rest while an application with the right secret holds a permit, so that the key is there and its own. */
    private static void whileLetIn(String right, List<String> settings, Runnable rest) {
        try (ConfigurableApplicationContext context = start(settings, 5);
                Permit permit = context.getBean(Permits.class).acquire("export")) {
            assertThat(permit.isHeld()).isTrue();
            assertThat(context.getBean(PermitHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
            checkEndpoints(context, right);
            rest.run();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void refused(String wrong, List<String> settings) {
        try (ConfigurableApplicationContext context = start(settings)) {
            Permits permits = context.getBean(Permits.class);
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> permits.tryAcquire("export"))
                    .satisfies(e -> assertThat(trace(e)).doesNotContain(wrong));
            checkEndpoints(context, wrong);
        }
    }

    private static void doesNotStart(String wrong, List<String> settings) {
        assertThatException()
                .isThrownBy(() -> start(with(settings, "distributed-permit.fail-fast=true")))
                .satisfies(e -> assertThat(trace(e)).doesNotContain(wrong));
    }

    private static void checkLog(CapturedOutput output, String right, String wrong) {
        assertThat(output.getAll()).contains("io.github.distributedpermit").doesNotContain(right, wrong);
    }

    private static void checkEndpoints(ConfigurableApplicationContext context, String canary) {
        Map<String, String> endpoints = Endpoints.read(context);
        assertThat(endpoints).containsKeys("health", "env", "configprops", "metrics", "beans", "permits");
        endpoints.forEach((id, answer) -> assertThat(answer).as(id).doesNotContain(canary));
        assertThat(context.getBean(PermitsEndpoint.class).permit("export", "export", null, null))
                .as("with the problem of a store that refuses")
                .asString()
                .contains("export")
                .doesNotContain(canary);
        assertThat(endpoints.get("metrics")).contains("distributed.permit.holders");
        assertThat(endpoints.get("env")).contains("distributed-permit.backend").contains("******");
        assertThat(endpoints.get("configprops")).contains("distributed-permit");
    }

    private static ConfigurableApplicationContext start(List<String> settings) {
        return start(settings, 1);
    }

    private static ConfigurableApplicationContext start(List<String> settings, int commandTimeout) {
        return new SpringApplicationBuilder(Application.class)
                .initializers(CommandTimeout.ofSeconds(commandTimeout))
                .web(WebApplicationType.NONE)
                .properties(
                        "distributed-permit.permits.export.limit=1",
                        "logging.level.io.github.distributedpermit=TRACE",
                        "spring.jmx.enabled=true",
                        "spring.jmx.unique-names=true",
                        "management.endpoints.jmx.exposure.include=*",
                        "management.endpoint.health.show-details=always")
                .properties(settings.toArray(String[]::new))
                .run();
    }

    private static List<String> with(List<String> settings, String more) {
        return Stream.concat(settings.stream(), Stream.of(more)).toList();
    }

    private static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    /** Without an embedded database and the parts of Spring Cloud whose names in JMX two applications of one process cannot both have. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                DataSourceAutoConfiguration.class,
                LifecycleMvcEndpointAutoConfiguration.class,
                RefreshAutoConfiguration.class,
                RefreshEndpointAutoConfiguration.class,
                WritableEnvironmentEndpointAutoConfiguration.class,
                ConfigurationPropertiesRebinderAutoConfiguration.class
            })
    static class Application {

        @Bean
        @ConditionalOnProperty("spring.datasource.url")
        HikariDataSource database(Environment environment) {
            return DataSourceBuilder.create()
                    .type(HikariDataSource.class)
                    .url(environment.getRequiredProperty("spring.datasource.url"))
                    .username(environment.getRequiredProperty("spring.datasource.username"))
                    .password(environment.getProperty("spring.datasource.password"))
                    .build();
        }

        @Bean(initMethod = "start", destroyMethod = "close")
        @ConditionalOnProperty("zk.where")
        CuratorFramework zooKeeper(Environment environment) {
            String identity = "app:" + environment.getRequiredProperty("zk.password");
            return CuratorFrameworkFactory.builder()
                    .connectString(environment.getRequiredProperty("zk.where"))
                    .retryPolicy(new ExponentialBackoffRetry(100, 3))
                    .authorization("digest", identity.getBytes(StandardCharsets.UTF_8))
                    .aclProvider(new CreatorsOnly())
                    .build();
        }
    }
}
