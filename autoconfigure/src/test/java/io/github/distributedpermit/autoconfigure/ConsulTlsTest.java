package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.CertificateChecks.assertAccepted;
import static io.github.distributedpermit.autoconfigure.CertificateChecks.assertRefused;

import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.consulserver.ConsulServer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;

/** Applications that talk to Consul over TLS, as {@code spring.cloud.consul.tls.*} says. */
class ConsulTlsTest {

    private final TestAuthority authority;
    private final Path strangers;

    ConsulTlsTest(@TempDir Path directory, @TempDir Path other) {
        authority = TestAuthority.in(directory);
        strangers = other;
    }

    @Test
    void certificateForTheHostIsAcceptedIfItsAuthorityIsKnown() {
        try (ConsulServer server = ConsulServer.startWithTls(authority.issue("localhost"))) {
            assertAccepted(over(authority, server));
            assertRefused(over(TestAuthority.in(strangers), server), "certification path");
        }
    }

    @Test
    void certificateForAnotherHostIsRefused() {
        try (ConsulServer server = ConsulServer.startWithTls(authority.issue("elsewhere.test"))) {
            assertRefused(over(authority, server), "localhost");
        }
    }

    /** Spring Cloud's own client starts with all of the properties only, also where the server asks for no certificate. */
    private static ApplicationContextRunner over(TestAuthority trusted, ConsulServer server) {
        return Starts.plain()
                .withConfiguration(AutoConfigurations.of(ConsulAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=consul",
                        "distributed-permit.key-prefix=tls-" + UUID.randomUUID(),
                        "distributed-permit.permits.export.limit=1",
                        "spring.cloud.consul.scheme=https",
                        "spring.cloud.consul.host=localhost",
                        "spring.cloud.consul.port=" + server.tlsPort(),
                        "spring.cloud.consul.tls.key-store-instance-type=PKCS12",
                        "spring.cloud.consul.tls.certificate-path=" + trusted.identityStore("client"),
                        "spring.cloud.consul.tls.certificate-password=" + TestAuthority.STORE_PASSWORD,
                        "spring.cloud.consul.tls.key-store-path=" + trusted.trustStore("JKS"),
                        "spring.cloud.consul.tls.key-store-password=" + TestAuthority.STORE_PASSWORD);
    }
}
