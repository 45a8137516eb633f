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
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
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
        return () -> engine.describeCallersBy(new StackCallers(traceIds(), System::nanoTime));
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
            ObjectProvider<EndpointAccessResolver> access,
            ApplicationEventPublisher audit) {
        EndpointId id = EndpointId.of("permits");
        boolean writable =
                access.stream().allMatch(each -> each.accessFor(id, Access.READ_ONLY) == Access.UNRESTRICTED);
        return new PermitsEndpoint(permits, settings.commandTimeout(), writable, events, history, audit);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(PermitsEndpoint.class)
    PermitsWebExtension distributedPermitWebExtension(PermitsEndpoint endpoint) {
        return new PermitsWebExtension(endpoint);
    }
}
