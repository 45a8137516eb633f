package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

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
        patient(application).run(context -> {
            try (Permit permit = context.getBean(Permits.class).acquire("export")) {
                assertThat(permit.isHeld()).isTrue();
            }
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            await().until(() -> indicator.health().getStatus().equals(Status.UP));
        });
    }

    /** By health, by calls, and at a start that fails fast; each with the reason. */
    static void assertRefused(ApplicationContextRunner application, String reason) {
        patient(application).run(context -> {
            PermitHealthIndicator indicator = context.getBean(PermitHealthIndicator.class);
            await().untilAsserted(() -> {
                Health health = indicator.health();
                assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                assertThat(health.getDetails().get("error")).asString().contains("certificate", reason);
            });
            await().untilAsserted(() -> assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> context.getBean(Permits.class).acquire("export"))
                    .withMessageContaining("certificate")
                    .withMessageContaining(reason));
        });
        assertThat(analysis(patient(application).withPropertyValues("distributed-permit.fail-fast=true"))
                        .getDescription())
                .contains("certificate", reason);
    }

    /** The first handshake of a JVM loads many classes. */
    private static ApplicationContextRunner patient(ApplicationContextRunner application) {
        return application.withInitializer(CommandTimeout.ofSeconds(5));
    }
}
