package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.testsupport.TlsFront;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Applications that talk to ZooKeeper over TLS, with a client of their own as docs/zookeeper.md has it. */
@ExtendWith(OutputCaptureExtension.class)
class ZooKeeperTlsTest {

    private final TestAuthority authority;
    private final Path strangers;

    ZooKeeperTlsTest(@TempDir Path directory, @TempDir Path other) {
        authority = TestAuthority.in(directory);
        strangers = other;
    }

    @Test
    void certificateForTheHostIsAcceptedIfItsAuthorityIsKnown(CapturedOutput output) throws Exception {
        try (TestingServer server = new TestingServer();
                TlsFront front = new TlsFront(authority.identityStore("localhost"), server.getPort())) {
            // the first connection by TLS loads many classes
            over(authority, front)
                    .withPropertyValues("distributed-permit.defaults.store-timeout=60s")
                    .run(context -> {
                        try (Permit permit = context.getBean(Permits.class).acquire("export")) {
                            assertThat(permit.isHeld()).isTrue();
                        }
                    });
            refused(over(TestAuthority.in(strangers), front), output, "unable to find valid certification path");
        }
    }

    @Test
    void certificateForAnotherHostIsRefused(CapturedOutput output) throws Exception {
        try (TestingServer server = new TestingServer();
                TlsFront front = new TlsFront(authority.identityStore("elsewhere.test"), server.getPort())) {
            refused(over(authority, front), output, "matching localhost");
        }
    }

    /** The client knows why and logs it; to us it is only not connected. */
    private static void refused(ApplicationContextRunner application, CapturedOutput output, String reason) {
        application.run(context -> {
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> context.getBean(Permits.class).tryAcquire("export"));
            await().untilAsserted(() -> assertThat(output.getAll()).contains(reason));
        });
    }

    private static ApplicationContextRunner over(TestAuthority trusted, TlsFront front) {
        return Starts.plain()
                .withBean(
                        CuratorFramework.class,
                        () -> client(trusted, front),
                        definition -> definition.setInitMethodName("start"))
                .withInitializer(CommandTimeout.ofSeconds(3))
                .withPropertyValues(
                        "distributed-permit.backend=zookeeper", "distributed-permit.permits.export.limit=1");
    }

    private static CuratorFramework client(TestAuthority trusted, TlsFront front) {
        ZKClientConfig tls = new ZKClientConfig();
        tls.setProperty("zookeeper.client.secure", "true");
        tls.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        tls.setProperty(
                "zookeeper.ssl.trustStore.location", trusted.trustStore("JKS").toString());
        tls.setProperty("zookeeper.ssl.trustStore.password", TestAuthority.STORE_PASSWORD);
        tls.setProperty("zookeeper.ssl.trustStore.type", "JKS");
        return CuratorFrameworkFactory.builder()
                .connectString("localhost:" + front.port())
                .retryPolicy(new ExponentialBackoffRetry(100, 3))
                .ensembleTracker(false) // the server's own address is that behind the front
                .zkClientConfig(tls)
                .build();
    }
}
