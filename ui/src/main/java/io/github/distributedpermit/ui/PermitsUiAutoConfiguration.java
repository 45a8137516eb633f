package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;

/** Auto-configuration of the live page, if the application exposes the endpoints {@code permits} and {@code permitsui}. */
@AutoConfiguration(afterName = "io.github.distributedpermit.autoconfigure.DistributedPermitEndpointAutoConfiguration")
@ConditionalOnWebApplication
@ConditionalOnBean(PermitsEndpoint.class)
@ConditionalOnAvailableEndpoint(endpoint = PermitsUiEndpoint.class)
@RegisterReflectionForBinding(LiveState.class)
@ImportRuntimeHints(PageHints.class)
public final class PermitsUiAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    PermitsUiEndpoint distributedPermitUiEndpoint(
            PermitsEndpoint permits,
            @Value("${management.endpoint.permitsui.trace-link:}") String traceLink,
            @Value("${management.endpoint.permitsui.instance-link:}") String instanceLink) {
        return new PermitsUiEndpoint(permits, new LiveState.Settings(permits.isWritable(), traceLink, instanceLink));
    }
}
