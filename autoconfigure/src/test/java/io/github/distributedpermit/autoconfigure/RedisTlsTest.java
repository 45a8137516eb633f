package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.testsupport.RedisServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
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
        over(authority).run(context -> {
            try (Permit permit = context.getBean(Permits.class).acquire("export")) {
                assertThat(permit.isHeld()).isTrue();
            }
            assertThat(context.getBean(PermitHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
        });
    }

    @Test
    void certificateForAnotherHostIsRefused() {
        server = RedisServer.startedWithTls(authority.issue("elsewhere.test"));
        refused(over(authority), "localhost");
    }

    @Test
    void certificateOfAnUnknownAuthorityIsRefused() {
        server = RedisServer.startedWithTls(authority.issue("localhost"));
        refused(over(TestAuthority.in(strangers)), "certification path");
    }

    private static void refused(ApplicationContextRunner application, String reason) {
        application.run(context -> {
            Health health = context.getBean(PermitHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("error")).asString().contains("certificate", reason);
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> context.getBean(Permits.class).acquire("export"))
                    .withMessageContaining("certificate")
                    .withMessageContaining(reason);
        });
        assertThat(analysis(application.withPropertyValues("distributed-permit.fail-fast=true"))
                        .getDescription())
                .contains("certificate", reason);
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
