package io.github.distributedpermit.ui;

import io.github.distributedpermit.endpoint.PermitsEndpoint;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.jackson.EndpointJsonMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;

/** Auto-configuration of the live page, if the application exposes the endpoints {@code permits} and {@code permitsui}. */
@AutoConfiguration(
        after = JacksonEndpointAutoConfiguration.class,
        afterName = "io.github.distributedpermit.autoconfigure.DistributedPermitEndpointAutoConfiguration")
@ConditionalOnWebApplication
@ConditionalOnBean(PermitsEndpoint.class)
@ConditionalOnAvailableEndpoint(endpoint = PermitsUiEndpoint.class)
@RegisterReflectionForBinding(LiveState.class)
@ImportRuntimeHints(PageHints.class)
public final class PermitsUiAutoConfiguration {

    private static final EndpointId PERMITS = EndpointId.of("permits");

    @Bean
    @ConditionalOnBean(EventStreams.class)
    @ConditionalOnMissingBean
    PermitsUiEndpoint distributedPermitUiEndpoint(
            PermitsEndpoint permits, EventStreams streams, ObjectProvider<EndpointAccessResolver> access) {
        boolean writable =
                access.stream().allMatch(each -> each.accessFor(PERMITS, Access.READ_ONLY) == Access.UNRESTRICTED);
        return new PermitsUiEndpoint(permits, writable, streams);
    }

    /** For applications with Jackson 3, unless they have the actuator use their own mapper. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
    @ConditionalOnBean(EndpointJsonMapper.class)
    static class Json {

        @Bean
        StateFormat distributedPermitStateFormat(EndpointJsonMapper mapper) {
            return new ActuatorFormat(mapper.get());
        }
    }

    /** For Spring MVC; a servlet application may do without it, for example with Jersey. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.web.servlet.mvc.method.annotation.SseEmitter")
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class Servlet {

        @Bean
        ServletEventStreams distributedPermitEventStreams(ObjectProvider<StateFormat> format) {
            return new ServletEventStreams(format.getIfAvailable(() -> StateFormat.OF_APPLICATION));
        }
    }

    /** For WebFlux on Netty. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "reactor.netty.http.server.HttpServerResponse")
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class Netty {

        @Bean
        ConnectionState distributedPermitConnectionState() {
            return new ConnectionState();
        }
    }

    /** For WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "reactor.core.publisher.Flux")
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class Reactive {

        @Bean
        ReactiveEventStreams distributedPermitEventStreams(ObjectProvider<StateFormat> format) {
            return new ReactiveEventStreams(format.getIfAvailable(() -> StateFormat.OF_APPLICATION));
        }
    }
}
