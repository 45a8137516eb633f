package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Limit;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.spi.PermitProperty;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Turns properties into the core's settings; values that cannot work stop the start, by their property's name. */
final class SettingsReader {

    private static final String PREFIX = "distributed-permit.";

    /** Spaces and braces would break the names that stores make of it. */
    private static final Pattern KEY_PREFIX = Pattern.compile("[A-Za-z0-9._:/-]{1,100}");

    /** A longer duration is a mistake, and arithmetic on nanoseconds stays far from overflow. */
    private static final Duration LONGEST = Duration.ofDays(365);

    /** Longer than a store that works takes to answer, and short enough to notice soon that an answer was lost. */
    private static final Duration USUAL_COMMAND = Duration.ofSeconds(2);

    private static final int COMMANDS_IN_STORE_TIMEOUT = 5;

    /** A pause of the process, such as for a garbage collection, must not use up the lease. */
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

    private static final Duration SHORTEST_STORE_TIMEOUT = Duration.ofMillis(10);

    private static final Duration SHORTEST_REFRESH = Duration.ofMillis(100);

    /** Nothing notifies an instance with an idle permit that another one has begun to wait. */
    private static final Duration LONGEST_LINGER = Duration.ofMillis(10);

    private final DistributedPermitProperties properties;

    SettingsReader(DistributedPermitProperties properties) {
        this.properties = properties;
    }

    /** What the names of all keys begin with. */
    String keyPrefix() {
        if (!KEY_PREFIX.matcher(properties.keyPrefix()).matches()) {
            throw invalid("key-prefix", properties.keyPrefix(), "give 1 to 100 letters, digits and . _ : / -");
        }
        return properties.keyPrefix();
    }

    /** @param permits the settings of names and the defaults, checked */
    CoreSettings core(NamedSettings permits) {
        lease();
        keyPrefix();
        return CoreSettings.DEFAULTS.toBuilder()
                .lease(properties.lease())
                .commandTimeout(commandTimeout(permits))
                .build();
    }

    /**
     * How long the store may take to answer a claim: longer for those who are patient with it. A renewal every third of the
     * lease has to survive one lost answer, and a store whose answer may still come is not unavailable.
     */
    private Duration commandTimeout(NamedSettings permits) {
        Duration store = permits.defaults().storeTimeout();
        Duration patient =
                store == null ? USUAL_COMMAND : max(USUAL_COMMAND, store.dividedBy(COMMANDS_IN_STORE_TIMEOUT));
        return permits.storeTimeouts().reduce(min(patient, properties.lease().dividedBy(3)), SettingsReader::min);
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    /** @param cluster whether the servers are a Redis Cluster */
    RedisSettings redis(boolean cluster, Duration commandTimeout) {
        DistributedPermitProperties.Redis redis = properties.redis();
        notNegative("redis.new-server-grace", redis.newServerGrace());
        if (cluster && redis.waitForReplica()) {
            throw invalid("redis.wait-for-replica", true, RedisPermitBackend.NOT_IN_A_CLUSTER);
        }
        RedisSettings settings = RedisSettings.of(keyPrefix(), commandTimeout);
        RedisSettings graced = redis.grace() ? settings.withGrace(redis.newServerGrace()) : settings.withoutGrace();
        return redis.waitForReplica() ? graced.withWaitForReplica() : graced;
    }

    /** The defaults for all permits, checked. */
    PermitSettings defaults(PermitSettings defaults) {
        refuse("limit", defaults.limit(), "it would be that of mistyped names, too");
        refuse("block", defaults.block(), "each annotation says whether calls wait");
        refuse("within", defaults.within(), "it would be that of the outer permit, too");
        refuse("head-start", defaults.headStart(), "a call that is as early as all others overtakes none");
        refuse("hold-at-least", defaults.holdAtLeast(), "it is for methods whose next start shall not follow at once");
        refuse("on-reject", defaults.onReject(), "each annotation says whether its method may be skipped");
        check("defaults.", defaults);
        return defaults;
    }

    private static void refuse(String name, @Nullable Object value, String why) {
        if (value != null) {
            throw invalid(
                    "defaults." + name,
                    value,
                    "there is no such default: %s. Set distributed-permit.permits[*].%s for all names"
                            .formatted(why, name));
        }
    }

    /** The settings of single permits, checked. */
    Map<String, PermitSettings> named(Map<String, PermitSettings> permits) {
        permits.forEach((name, permit) -> check(PermitProperty.of(name, "").substring(PREFIX.length()), permit));
        return permits;
    }

    private void check(String prefix, PermitSettings permit) {
        Limit limit = permit.limit();
        if (limit != null && !limit.isPossible()) {
            throw invalid(prefix + "limit", limit, "give 1 to " + PermitDefinition.MAX_LIMIT + " or 'unlimited'");
        }
        notNegative(prefix + "timeout", permit.timeout());
        notNegative(prefix + "hold-at-least", permit.holdAtLeast());
        Integer maxWaiting = permit.maxWaiting();
        if (maxWaiting != null && maxWaiting < 1) {
            throw invalid(
                    prefix + "max-waiting", maxWaiting, "give at least 1, or block=false for calls that do not wait");
        }
        Duration headStart = permit.headStart();
        notNegative(prefix + "head-start", headStart);
        if (headStart != null && headStart.compareTo(PermitRequest.LONGEST_HEAD_START) > 0) {
            throw invalid(prefix + "head-start", headStart, "it is longer than an hour");
        }
        atLeast(SHORTEST_STORE_TIMEOUT, prefix + "store-timeout", permit.storeTimeout());
        linger(prefix + "linger", permit.linger());
    }

    /** How long permits outlive this instance. */
    Duration lease() {
        atLeast(SHORTEST_LEASE, "lease", properties.lease());
        return properties.lease();
    }

    /** When calls are warned about. */
    DistributedPermitProperties.Log log() {
        notNegative("log.long-wait", properties.log().longWait());
        notNegative("log.long-hold", properties.log().longHold());
        return properties.log();
    }

    /** How often the meters of all instances are read; zero for never. */
    Duration fleetRefresh() {
        Duration pause = properties.metrics().fleetRefresh();
        if (!pause.isZero()) {
            atLeast(SHORTEST_REFRESH, "metrics.fleet-refresh", pause);
        }
        return pause;
    }

    private void linger(String name, @Nullable Duration linger) {
        notNegative(name, linger);
        if (linger != null && linger.compareTo(LONGEST_LINGER) > 0) {
            throw invalid(
                    name,
                    linger,
                    "it is longer than %d ms, and another instance that waits gets an idle permit only after that time"
                            .formatted(LONGEST_LINGER.toMillis()));
        }
        if (linger != null && linger.compareTo(properties.lease().dividedBy(3)) > 0) {
            throw invalid(name, linger, "it is longer than a third of the lease (%s)".formatted(properties.lease()));
        }
    }

    private static void atLeast(Duration shortest, String name, @Nullable Duration value) {
        notNegative(name, value);
        if (value != null && value.compareTo(shortest) < 0) {
            throw invalid(name, value, "give at least %d ms".formatted(shortest.toMillis()));
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

    private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
        return new InvalidConfigurationPropertyValueException(PREFIX + name, value, reason);
    }
}
