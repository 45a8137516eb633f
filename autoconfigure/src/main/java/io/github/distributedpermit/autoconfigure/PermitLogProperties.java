package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Settings under {@code distributed-permit.log}.
 *
 * @param longWait How long a call may wait for a permit before a warning is logged, at most once a minute for each permit. Zero
 *     for no warning.
 * @param longHold How long a call may hold a permit before a warning is logged, at most once a minute for each permit. Zero
 *     for no warning.
 */
@ConfigurationProperties("distributed-permit.log")
public record PermitLogProperties(
        @DefaultValue("1m") Duration longWait,
        @DefaultValue("10m") Duration longHold) {

    /** Checks the values. */
    public PermitLogProperties {
        notNegative("long-wait", longWait);
        notNegative("long-hold", longHold);
    }

    private static void notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new InvalidConfigurationPropertyValueException(
                    "distributed-permit.log." + name, value, "give 0 for no warning, or a duration such as 30s");
        }
    }
}
