package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.auth.AuthenticationProvider;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.junit.jupiter.api.Test;

/** A server that refuses a client's authentication for a time, as while it can't reach what it authenticates with. */
class RefusedAuthenticationTest {

    private static final String PROVIDER = ProviderRegistry.AUTHPROVIDER_PROPERTY_PREFIX + Gate.SCHEME;
    private static final Duration SOON = Duration.ofSeconds(30);

    private static volatile boolean refusing;
    private static final AtomicInteger REFUSALS = new AtomicInteger();

    @Test
    void permitsWorkAgainOnceAuthenticationDoes() throws Exception {
        System.setProperty(PROVIDER, Gate.class.getName());
        ProviderRegistry.addOrUpdateProvider(PROVIDER);
        try (TestingServer server = Servers.single(Servers.LONG_TICK_MILLIS);
                TestProcess process =
                        new TestProcess(client(server), "/refused", Duration.ofSeconds(10), Duration.ofSeconds(1))) {
            assertThat(TestProcess.released(process.permits("export", 1).acquire(PermitRequest.of("export"))))
                    .isTrue();

            refusing = true;
            server.restart();
            await().atMost(SOON)
                    .untilAtomic(REFUSALS, refusals -> assertThat(refusals).isPositive());
            refusing = false;

            await().atMost(SOON)
                    .ignoreExceptions()
                    .until(() -> TestProcess.released(process.permits("export", 1)
                            .acquire(PermitRequest.of("export").withTimeout(Duration.ofSeconds(5)))));
        } finally {
            refusing = false;
            System.clearProperty(PROVIDER);
            ProviderRegistry.removeProvider(Gate.SCHEME);
        }
    }

    private static CuratorFramework client(TestingServer server) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .sessionTimeoutMs(10_000)
                .connectionTimeoutMs(5_000)
                .retryPolicy(new RetryForever(100))
                .authorization(Gate.SCHEME, new byte[] {1})
                .build();
        client.start();
        return client;
    }

    /** Public, since the server makes it. */
    public static final class Gate implements AuthenticationProvider {

        private static final String SCHEME = "gate";

        @Override
        public String getScheme() {
            return SCHEME;
        }

        @Override
        public KeeperException.Code handleAuthentication(ServerCnxn connection, byte[] credentials) {
            if (refusing) {
                REFUSALS.incrementAndGet();
                return KeeperException.Code.AUTHFAILED;
            }
            return KeeperException.Code.OK;
        }

        @Override
        public boolean matches(String id, String aclExpr) {
            return true;
        }

        @Override
        public boolean isAuthenticated() {
            return true;
        }

        @Override
        public boolean isValid(String id) {
            return true;
        }
    }
}
