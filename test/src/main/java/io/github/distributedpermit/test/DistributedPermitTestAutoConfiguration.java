package io.github.distributedpermit.test;

import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.TimeSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/** What {@link AutoConfigureDistributedPermit} adds to the beans of an application. */
@AutoConfiguration(after = DistributedPermitAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
class DistributedPermitTestAutoConfiguration {

    @Bean
    @ConditionalOnProperty(name = "distributed-permit.backend", havingValue = "local")
    static LocalBackendReplacement distributedPermitTestBackendReplacement() {
        return new LocalBackendReplacement();
    }

    @Bean
    @ConditionalOnProperty(name = "distributed-permit.backend", havingValue = "local")
    @ConditionalOnMissingBean(LocalPermitBackend.class)
    LocalPermitBackend distributedPermitTestBackend(ObjectProvider<TimeSource> time) {
        return new LocalPermitBackend(time.getIfAvailable(() -> TimeSource.SYSTEM)::nanoTime);
    }

    @Bean
    @ConditionalOnBooleanProperty("test.distributed-permit.movable-clock")
    PermitClock distributedPermitTestClock() {
        return new PermitClock();
    }

    @Bean
    @Primary
    @ConditionalOnBean(PermitEngine.class)
    RecordingPermits distributedPermitTestPermits(PermitEngine engine) {
        return new RecordingPermits(engine, new PermitLog());
    }
}
