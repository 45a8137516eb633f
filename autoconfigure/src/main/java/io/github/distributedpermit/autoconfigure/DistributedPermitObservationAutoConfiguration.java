package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.observation.DefaultPermitHoldConvention;
import io.github.distributedpermit.observation.DefaultPermitWaitConvention;
import io.github.distributedpermit.observation.ObservingPermitObserver;
import io.github.distributedpermit.observation.PermitHoldConvention;
import io.github.distributedpermit.observation.PermitWaitConvention;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of observations of waits and holds, where the application has an {@link ObservationRegistry}. */
@AutoConfiguration(
        before = DistributedPermitAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
@ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
public final class DistributedPermitObservationAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ObservingPermitObserver distributedPermitObservations(
            ObservationRegistry registry,
            ObjectProvider<PermitWaitConvention> waits,
            ObjectProvider<PermitHoldConvention> holds) {
        return new ObservingPermitObserver(
                registry,
                waits.getIfAvailable(DefaultPermitWaitConvention::new),
                holds.getIfAvailable(DefaultPermitHoldConvention::new));
    }
}
