package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.TimeSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The memory of this process. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBackend(Backend.LOCAL)
@ConditionalOnMissingBean(PermitBackend.class)
class LocalBackendConfiguration {

    @Bean
    LocalPermitBackend localPermitBackend(ObjectProvider<TimeSource> time) {
        return new LocalPermitBackend(time.getIfAvailable(() -> TimeSource.SYSTEM)::nanoTime);
    }
}
