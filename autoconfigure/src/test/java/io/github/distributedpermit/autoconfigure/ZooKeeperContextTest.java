package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.zookeeper.ZooKeeperPermitBackend;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.spi.PermitBackend;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Whole applications on a real ZooKeeper. */
@ExtendWith(OutputCaptureExtension.class)
class ZooKeeperContextTest {

    private static final String CANARY = "canary-password";

    private static TestingServer server;

    @BeforeAll
    static void startServer() throws Exception {
        server = new TestingServer();
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    private static ApplicationContextRunner zookeeper() {
        return Starts.plain()
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues(
                        "distributed-permit.backend=zookeeper",
                        "distributed-permit.zookeeper.connect-string=" + server.getConnectString());
    }

    @Test
    void twoApplicationsShareALimitAndLeaveNothingBehind() {
        ApplicationContextRunner runner = zookeeper().withBean(Service.class);
        runner.run(one -> runner.run(other -> {
            assertThat(one).hasSingleBean(ZooKeeperPermitBackend.class);
            Starts.connect(other);
            Service elsewhere = other.getBean(Service.class);
            try (Permit permit = one.getBean(Permits.class).acquire("context-export")) {
                assertThat(permit.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(elsewhere::export);
            }
            await().ignoreException(PermitRejectedException.class)
                    .untilAsserted(() -> assertThat(elsewhere.export()).isEqualTo("done"));
            assertThat(one.getBean(PermitHealthIndicator.class).health().getDetails())
                    .containsEntry("backend", "zookeeper");
        }));
        runner.run(later -> {
            Starts.connect(later);
            assertThat(later.getBean(Service.class).export()).isEqualTo("done");
        });
    }

    @Test
    void clientOfTheApplicationIsUsedAndNotClosed() throws Exception {
        try (CuratorFramework own = client()) {
            own.start();
            zookeeper()
                    .withBean(
                            "own", CuratorFramework.class, () -> own, definition -> definition.setDestroyMethodName(""))
                    .withBean(Service.class)
                    // no server listens there
                    .withPropertyValues("distributed-permit.zookeeper.connect-string=127.0.0.1:1")
                    .run(context -> {
                        assertThat(context).hasSingleBean(CuratorFramework.class);
                        try (Permit permit = context.getBean(Permits.class).acquire("context-export")) {
                            assertThat(own.getChildren().forPath("/distributed-permit/context-export"))
                                    .as("in the namespace of the client")
                                    .hasSize(1);
                            assertThat(permit.isHeld()).isTrue();
                        }
                    });
            assertThat(own.getState()).isEqualTo(CuratorFrameworkState.STARTED);
        }
    }

    @Test
    void ownClientIsNoBeanThatOthersMeet() {
        zookeeper().run(context -> assertThat(context).doesNotHaveBean(CuratorFramework.class));
    }

    @Test
    void clientThatIsNotStartedStopsTheStart() {
        FailureAnalysis analysis = analysis(zookeeper().withBean(CuratorFramework.class, ZooKeeperContextTest::client));
        assertThat(analysis.getDescription()).contains("not started");
        assertThat(analysis.getAction()).contains("initMethod");
    }

    @Test
    void severalClientsStopTheStart() {
        FailureAnalysis analysis = analysis(zookeeper()
                .withBean("one", CuratorFramework.class, ZooKeeperContextTest::client)
                .withBean("two", CuratorFramework.class, ZooKeeperContextTest::client));
        assertThat(analysis.getDescription()).contains("2 clients");
        assertThat(analysis.getAction()).contains("@Primary");
    }

    private static CuratorFramework client() {
        return client("apps");
    }

    private static CuratorFramework client(String namespace) {
        return CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .namespace(namespace)
                .retryPolicy(new RetryNTimes(10, 100))
                .build();
    }

    @Test
    void nodesOfAnApplicationWithAnIdentityAreItsOwn() {
        zookeeper()
                .withUserConfiguration(WithIdentity.class)
                .withBean(Service.class)
                .run(context -> {
                    try (Permit permit = context.getBean(Permits.class).acquire("context-export");
                            CuratorFramework stranger = client()) {
                        assertThat(permit.isHeld()).isTrue();
                        stranger.start();
                        assertThatExceptionOfType(KeeperException.NoAuthException.class)
                                .isThrownBy(() -> stranger.usingNamespace("secured")
                                        .getData()
                                        .forPath("/distributed-permit/context-export"));
                    }
                    strangerIsRefused();
                });
    }

    private static void strangerIsRefused() {
        try (CuratorFramework stranger = client("secured")) {
            stranger.start();
            zookeeper()
                    .withBean(
                            "stranger",
                            CuratorFramework.class,
                            () -> stranger,
                            definition -> definition.setDestroyMethodName(""))
                    .withBean(Service.class)
                    .run(context -> {
                        await().untilAsserted(() -> {
                            Health health =
                                    context.getBean(PermitHealthIndicator.class).health();
                            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                            assertThat(health.getDetails().get("error"))
                                    .asString()
                                    .contains("NoAuth");
                        });
                        await().untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                                .isThrownBy(() -> context.getBean(Service.class).export())
                                .withStackTraceContaining("NoAuth"));
                    });
        }
    }

    /** As docs/zookeeper.md has it. */
    @Configuration(proxyBeanMethods = false)
    static class WithIdentity {

        @Bean(initMethod = "start", destroyMethod = "close")
        CuratorFramework zooKeeper() {
            return CuratorFrameworkFactory.builder()
                    .connectString(server.getConnectString())
                    .namespace("secured")
                    .retryPolicy(new ExponentialBackoffRetry(100, 3))
                    .authorization("digest", ("app:" + CANARY).getBytes(StandardCharsets.UTF_8))
                    .aclProvider(new CreatorsOnly())
                    .build();
        }
    }

    @Test
    void serverThatIsNotThereIsSeenByHealth() {
        zookeeper()
                .withPropertyValues("distributed-permit.zookeeper.connect-string=127.0.0.1:1")
                .withBean(Service.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(PermitHealthIndicator.class)
                                    .health()
                                    .getStatus())
                            .isEqualTo(Status.DOWN);
                    assertThatExceptionOfType(PermitBackendException.class)
                            .isThrownBy(() -> context.getBean(Service.class).export());
                });
    }

    /** The client cannot make what it is confined to. */
    @Test
    void pathInTheConnectStringThatDoesNotExistIsSeenByHealthAndCalls() throws Exception {
        try (CuratorFramework operator = client()) {
            operator.start();
            zookeeper()
                    .withPropertyValues(
                            "distributed-permit.zookeeper.connect-string=" + server.getConnectString() + "/absent")
                    .withBean(Service.class)
                    .run(context -> {
                        PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
                        Service service = context.getBean(Service.class);
                        await().untilAsserted(() -> {
                            Health health = indicator.health();
                            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                            assertThat(health.getDetails().get("error"))
                                    .asString()
                                    .contains("/absent' does not exist");
                        });
                        await().untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                                .isThrownBy(service::export)
                                .withStackTraceContaining("/absent' does not exist"));

                        operator.usingNamespace(null).create().forPath("/absent");

                        await().until(() -> indicator.health().getStatus().equals(Status.UP));
                        await().ignoreException(PermitBackendException.class)
                                .untilAsserted(
                                        () -> assertThat(service.export()).isEqualTo("done"));
                    });
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            connect-string     | ' '
            connect-string     | localhost:port
            """)
    void badInputStopsTheStartAndNamesTheProperty(String property, String value) {
        FailureAnalysis analysis =
                analysis(zookeeper().withPropertyValues("distributed-permit.zookeeper." + property + "=" + value));
        assertThat(analysis.getDescription()).contains("distributed-permit.zookeeper." + property);
    }

    @Test
    void keyPrefixThatIsNoPathStopsTheStart() {
        FailureAnalysis analysis = analysis(zookeeper().withPropertyValues("distributed-permit.key-prefix=a//b"));
        assertThat(analysis.getDescription()).contains("distributed-permit.key-prefix");
    }

    @Test
    void userOfAnotherStoreDoesNotNoticeZooKeeper() {
        plain().withPropertyValues("distributed-permit.backend=local").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(PermitBackend.class)).isNotInstanceOf(ZooKeeperPermitBackend.class);
        });
        Starts.plain()
                .withPropertyValues("distributed-permit.backend=local")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ZooKeeperConnection.class));
    }

    static class Service {
        @DistributedPermit(key = "context-export", limit = 1, block = false)
        public String export() {
            return "done";
        }
    }
}
