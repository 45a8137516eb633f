package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.health.PermitHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What an application says of the certificate of its store; its permit "export" has a limit. */
final class CertificateChecks {

    private CertificateChecks() {}

    static void assertAccepted(ApplicationContextRunner application) {
        application.run(context -> {
            try (Permit permit = context.getBean(Permits.class).acquire("export")) {
                assertThat(permit.isHeld()).isTrue();
            }
            assertThat(context.getBean(PermitHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
        });
    }

    /** By health, by calls, and at a start that fails fast; each with the reason. */
    static void assertRefused(ApplicationContextRunner application, String reason) {
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
}
