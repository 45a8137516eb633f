package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.endpoint.PermitEvents;
import io.github.distributedpermit.endpoint.PermitHistory;
import io.github.distributedpermit.endpoint.PermitsEndpoint;
import io.github.distributedpermit.endpoint.PermitsWebExtension;
import io.github.distributedpermit.endpoint.StackCallers;
import io.github.distributedpermit.spi.PermitAccess;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

/** Auto-configuration of the actuator endpoint {@code permits}, if the application exposes it. */
@AutoConfiguration(after = DistributedPermitAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnSingleCandidate(PermitEngine.class)
@ConditionalOnAvailableEndpoint(endpoint = PermitsEndpoint.class)
public final class DistributedPermitEndpointAutoConfiguration {

    /** While the endpoint can be asked for calls, each of them is recorded with who made it. */
    @Bean
    SmartInitializingSingleton distributedPermitCallers(PermitEngine engine) {
        return () -> engine.describeCallersBy(new StackCallers(traceIds()));
    }

    /** Boot's log correlation puts the trace of a thread into the MDC. */
    private static Supplier<@Nullable String> traceIds() {
        boolean logs = ClassUtils.isPresent("org.slf4j.MDC", PermitsEndpoint.class.getClassLoader());
        return logs ? new TraceIds() : () -> null;
    }

    /** A class of its own, because SLF4J may be missing. */
    private static final class TraceIds implements Supplier<@Nullable String> {

        @Override
        public @Nullable String get() {
            return MDC.get("traceId");
        }
    }

    /** Netty, which WebFlux runs on by default, accepts an encoded slash in a path. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnAvailableEndpoint(endpoint = PermitsEndpoint.class, exposure = EndpointExposure.WEB)
    static class ServletPaths {

        @Bean
        WhenReady distributedPermitUnreachableNamesWarning(PermitAccess permits) {
            return new WhenReady(new UnreachableNamesWarning(permits));
        }
    }

    @Bean
    PermitEvents distributedPermitEvents() {
        return new PermitEvents(Clock.systemUTC());
    }

    @Bean
    PermitHistory distributedPermitHistory() {
        return new PermitHistory(System::nanoTime);
    }

    @Bean
    WatchTask distributedPermitHistoryTask(PermitHistory history) {
        return engine -> Optional.of(new RepeatedTasks.Task(PermitHistory.PAUSE, () -> history.sample(engine)));
    }

    @Bean
    @ConditionalOnMissingBean
    PermitsEndpoint distributedPermitEndpoint(
            PermitAccess permits,
            CoreSettings settings,
            PermitEvents events,
            PermitHistory history,
            ApplicationEventPublisher audit) {
        return new PermitsEndpoint(permits, settings.commandTimeout(), events, history, audit);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(PermitsEndpoint.class)
    PermitsWebExtension distributedPermitWebExtension(PermitsEndpoint endpoint) {
        return new PermitsWebExtension(endpoint);
    }
}
