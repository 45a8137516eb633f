package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.metrics.MicrometerPermitObserver;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the meters {@code distributed.permit.*}, where the application has a {@link MeterRegistry}. */
@AutoConfiguration(
        before = DistributedPermitAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
public final class DistributedPermitMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MicrometerPermitObserver distributedPermitMeters(MeterRegistry registry) {
        return new MicrometerPermitObserver(registry);
    }
}
