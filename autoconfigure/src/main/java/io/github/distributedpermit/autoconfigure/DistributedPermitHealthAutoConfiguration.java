package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.health.StoreProbe;
import io.github.distributedpermit.spi.PermitBackend;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.ObjectProvider;
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
            ObjectProvider<PermitEngine> engines,
            PermitBackend backend,
            MemberFactory members,
            DistributedPermitProperties properties) {
        PermitEngine engine = engines.getIfAvailable();
        if (engine == null) { // a test has put a mock of Permits in its place, which uses no store
            StoreProbe none = new StoreProbe(() -> CompletableFuture.completedStage(null), properties.commandTimeout());
            return new PermitHealthIndicator(none, backend.name(), members, Optional::empty, Optional.empty());
        }
        return new PermitHealthIndicator(
                new StoreProbe(engine::probe, properties.commandTimeout()),
                backend.name(),
                engine::member,
                engine::problem,
                Optional.of(engine.status()));
    }
}
