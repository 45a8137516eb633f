package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Turns properties into the core's settings; values that cannot work stop the start, by their property's name. */
final class SettingsReader {

    private static final String PREFIX = "distributed-permit.";

    /** Spaces and braces would break the names that stores make of it. */
    private static final Pattern KEY_PREFIX = Pattern.compile("[A-Za-z0-9._:/-]{1,100}");

    /** Nobody means more, and arithmetic on nanoseconds stays far from overflow. */
    private static final Duration LONGEST = Duration.ofDays(365);

    /** How often a member makes sure that it still hears its notices. */
    private static final Duration REDIS_WATCH = Duration.ofSeconds(5);

    private final DistributedPermitProperties properties;

    SettingsReader(DistributedPermitProperties properties) {
        this.properties = properties;
        if (!KEY_PREFIX.matcher(properties.keyPrefix()).matches()) {
            throw invalid("key-prefix", properties.keyPrefix(), "give 1 to 100 letters, digits and . _ : / -");
        }
        positive("tombstone", properties.tombstone());
    }

    CoreSettings core() {
        positive("command-timeout", properties.commandTimeout());
        lease("lease", properties.lease());
        storeTimeout("store-timeout", properties.storeTimeout());
        positive("recheck", properties.recheck());
        atLeastOne("window", properties.window());
        notNegative("hand-over-slice", properties.handOverSlice());
        linger("linger", properties.linger(), properties.lease());
        atLeastOne("max-waiters", properties.maxWaiters());
        atLeastOne("max-keys", properties.maxKeys());
        return new CoreSettings(
                properties.lease(),
                properties.commandTimeout(),
                properties.storeTimeout(),
                properties.recheck(),
                properties.window(),
                properties.handOverSlice(),
                properties.linger(),
                properties.release(),
                properties.maxWaiters(),
                properties.maxKeys());
    }

    RedisSettings redis() {
        return new RedisSettings(
                properties.keyPrefix(), properties.tombstone(), REDIS_WATCH, properties.commandTimeout());
    }

    Map<String, PermitSettings> named() {
        Map<String, PermitSettings> named = new LinkedHashMap<>();
        properties.permits().forEach((name, permit) -> named.put(name, named("permits." + name + ".", permit)));
        return named;
    }

    private PermitSettings named(String prefix, PermitProperties permit) {
        Integer limit = permit.limit();
        if (limit != null && (limit < 1 || limit > PermitDefinition.MAX_LIMIT)) {
            throw invalid(prefix + "limit", limit, "give 1 to " + PermitDefinition.MAX_LIMIT);
        }
        notNegative(prefix + "timeout", permit.timeout());
        if (permit.storeTimeout() != null) {
            storeTimeout(prefix + "store-timeout", permit.storeTimeout());
        }
        if (permit.lease() != null) {
            lease(prefix + "lease", permit.lease());
        }
        notNegative(prefix + "hand-over-slice", permit.handOverSlice());
        linger(prefix + "linger", permit.linger(), permit.lease() != null ? permit.lease() : properties.lease());
        return new PermitSettings(
                limit,
                permit.block(),
                permit.timeout(),
                permit.storeTimeout(),
                permit.lease(),
                permit.handOverSlice(),
                permit.linger(),
                permit.release());
    }

    /** A renewal every third of the lease has to survive one lost answer. */
    private void lease(String name, Duration lease) {
        positive(name, lease);
        if (lease.compareTo(properties.commandTimeout().multipliedBy(3)) < 0) {
            throw invalid(
                    name,
                    lease,
                    "it is shorter than three command time-outs; make it longer, or distributed-permit.command-timeout (%s) shorter"
                            .formatted(properties.commandTimeout()));
        }
    }

    /** An answer that may still come is no store that is away. */
    private void storeTimeout(String name, Duration storeTimeout) {
        positive(name, storeTimeout);
        if (storeTimeout.compareTo(properties.commandTimeout()) < 0) {
            throw invalid(
                    name,
                    storeTimeout,
                    "it is shorter than the command time-out; make it longer, or distributed-permit.command-timeout (%s) shorter"
                            .formatted(properties.commandTimeout()));
        }
    }

    private static void linger(String name, @Nullable Duration linger, Duration lease) {
        notNegative(name, linger);
        if (linger != null && linger.compareTo(lease.dividedBy(3)) > 0) {
            throw invalid(name, linger, "it is longer than a third of the lease (%s)".formatted(lease));
        }
    }

    private static void positive(String name, Duration value) {
        notNegative(name, value);
        if (value.isZero()) {
            throw invalid(name, value, "give more than zero");
        }
    }

    private static void notNegative(String name, @Nullable Duration value) {
        if (value != null && value.isNegative()) {
            throw invalid(name, value, "it is negative; give a duration such as 500ms or 15s");
        }
        if (value != null && value.compareTo(LONGEST) > 0) {
            throw invalid(name, value, "it is longer than a year; give a shorter duration");
        }
    }

    private static void atLeastOne(String name, int value) {
        if (value < 1) {
            throw invalid(name, value, "give at least 1");
        }
    }

    private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
        return new InvalidConfigurationPropertyValueException(PREFIX + name, value, reason);
    }
}
