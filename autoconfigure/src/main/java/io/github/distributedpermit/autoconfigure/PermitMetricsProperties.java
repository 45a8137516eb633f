package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Settings under {@code distributed-permit.metrics}.
 *
 * @param fleetRefresh How often the meters distributed.permit.fleet.* are read from the store. Zero for never.
 */
@ConfigurationProperties("distributed-permit.metrics")
public record PermitMetricsProperties(@DefaultValue("15s") Duration fleetRefresh) {

    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofDays(365);

    /** Checks the values. */
    public PermitMetricsProperties {
        boolean outside = fleetRefresh.compareTo(SHORTEST) < 0 || fleetRefresh.compareTo(LONGEST) > 0;
        if (outside && !fleetRefresh.isZero()) {
            throw new InvalidConfigurationPropertyValueException(
                    "distributed-permit.metrics.fleet-refresh", fleetRefresh, "give 0, or 100ms to a year");
        }
    }
}
