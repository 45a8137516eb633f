package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.spi.PermitBackend;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Last of the backends: none could be made. Says why; a limit that is not kept must not go unnoticed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(PermitBackend.class)
class NoBackendConfiguration {

    @Bean
    PermitBackend missingPermitBackend(ApplicationContext context) {
        throw BackendChoice.of(context.getEnvironment(), context.getClassLoader())
                .failure();
    }
}
