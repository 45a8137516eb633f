package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.CertificateChecks.assertAccepted;
import static io.github.distributedpermit.autoconfigure.CertificateChecks.assertRefused;

import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.testsupport.RedisServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications that talk to Redis over TLS, configured as Boot's documentation says. */
class RedisTlsTest {

    private final TestAuthority authority;
    private final Path strangers;
    private RedisServer server = RedisServer.create();

    RedisTlsTest(@TempDir Path directory, @TempDir Path other) {
        authority = TestAuthority.in(directory);
        strangers = other;
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void certificateForTheHostIsAccepted() {
        server = RedisServer.startedWithTls(authority.issue("localhost"));
        assertAccepted(over(authority));
    }

    @Test
    void connectionForPermitsOnlyHasTheCertificatesOfTheApplication() {
        server = RedisServer.startedWithTls(authority.issue("localhost"));
        assertAccepted(over(authority)
                .withPropertyValues(
                        "spring.data.redis.client-type=jedis", "distributed-permit.redis.own-connection=true"));
    }

    @Test
    void certificateForAnotherHostIsRefused() {
        server = RedisServer.startedWithTls(authority.issue("elsewhere.test"));
        assertRefused(over(authority), "localhost");
    }

    @Test
    void certificateOfAnUnknownAuthorityIsRefused() {
        server = RedisServer.startedWithTls(authority.issue("localhost"));
        assertRefused(over(TestAuthority.in(strangers)), "certification path");
    }

    private ApplicationContextRunner over(TestAuthority trusted) {
        return Starts.plain()
                .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "distributed-permit.permits.export.limit=1",
                        "spring.data.redis.host=localhost",
                        "spring.data.redis.port=" + server.tlsPort(),
                        "spring.data.redis.ssl.bundle=store",
                        "spring.ssl.bundle.pem.store.truststore.certificate="
                                + trusted.certificate().toUri());
    }
}
