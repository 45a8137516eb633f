package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.metrics.FleetRefresh;
import io.github.distributedpermit.metrics.FleetView;
import io.github.distributedpermit.metrics.MicrometerPermitObserver;
import io.github.distributedpermit.metrics.PermitTags;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.time.Duration;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
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
    MicrometerPermitObserver distributedPermitMeters(
            MeterRegistry registry,
            ObjectProvider<PermitTags> tags,
            FleetView fleet,
            DistributedPermitProperties properties) {
        boolean ofFleet = !properties.metrics().fleetRefresh().isZero();
        return new MicrometerPermitObserver(
                registry, tags.getIfAvailable(() -> name -> Tags.empty()), ofFleet ? fleet : null);
    }

    /** The engine does not exist yet when this configuration is read, so it is passed in. */
    @Bean
    WatchTask distributedPermitFleetRefresh(
            FleetView view, DistributedPermitProperties properties, CoreSettings settings) {
        Duration pause = new SettingsReader(properties).fleetRefresh();
        return engine -> {
            if (pause.isZero()) {
                return Optional.empty();
            }
            FleetRefresh refresh = new FleetRefresh(
                    engine,
                    name -> engine.find(name).map(PermitDefinition::limit).orElse(0),
                    engine::isPaused,
                    view,
                    FleetRefresh.MOST_KEYS,
                    settings.commandTimeout());
            return Optional.of(new RepeatedTasks.Task(pause, refresh::refresh));
        };
    }

    /** Boot makes a timer of each observation, which would count what the meters {@code wait} and {@code hold} do. */
    @Bean
    static MeterFilter distributedPermitObservationMeters() {
        return MeterFilter.deny(id -> id.getName().startsWith("distributed.permit.waiting")
                || id.getName().startsWith("distributed.permit.holding"));
    }

    @Bean
    FleetView distributedPermitFleetView(DistributedPermitProperties properties) {
        return new FleetView(new SettingsReader(properties).fleetRefresh());
    }
}
