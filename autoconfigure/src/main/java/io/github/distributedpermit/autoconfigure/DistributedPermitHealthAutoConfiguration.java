package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.HealthProbe;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.spi.PermitBackend;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the health contributor {@code distributedPermit}. */
@AutoConfiguration(after = DistributedPermitAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("distributed-permit")
@ConditionalOnSingleCandidate(PermitEngine.class)
public final class DistributedPermitHealthAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "distributedPermitHealthIndicator")
    PermitHealthIndicator distributedPermitHealthIndicator(
            PermitEngine engine, PermitBackend backend, CoreSettings settings) {
        return new PermitHealthIndicator(
                new HealthProbe(engine::checkHealth, settings.commandTimeout()),
                backend.name(),
                engine::member,
                engine::problem,
                engine.status());
    }
}
