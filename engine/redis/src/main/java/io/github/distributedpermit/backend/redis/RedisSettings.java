package io.github.distributedpermit.backend.redis;

import java.time.Duration;

/**
 * The settings of {@link RedisPermitBackend}. Immutable.
 *
 * @param prefix of every key and channel. All applications that use the same prefix and server share their limits. Default
 *     {@value #DEFAULT_PREFIX}
 * @param tombstone how long Redis remembers a member that has returned everything, so that a delayed message of that member
 *     changes nothing; longer than any message may be delayed. Default 30 s
 * @param watch the time between two checks of the subscription. Default 5 s
 * @param commandTimeout bounds each step of connecting. Default 2 s
 */
public record RedisSettings(String prefix, Duration tombstone, Duration watch, Duration commandTimeout) {

    /** The prefix if none is set. */
    public static final String DEFAULT_PREFIX = "distributed-permit";

    /** Checks the values. */
    public RedisSettings {
        if (prefix.isBlank() || prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            throw new IllegalArgumentException(
                    "distributed-permit.key-prefix needs some text without braces, because braces determine the hash slot: '"
                            + prefix + "'");
        }
        if (isNone(tombstone) || isNone(watch) || isNone(commandTimeout)) {
            throw new IllegalArgumentException("Durations must be positive: tombstone %s, watch %s, command time-out %s"
                    .formatted(tombstone, watch, commandTimeout));
        }
    }

    private static boolean isNone(Duration duration) {
        return duration.isNegative() || duration.isZero();
    }

    /** With the default of {@code commandTimeout}. */
    public RedisSettings(String prefix, Duration tombstone, Duration watch) {
        this(prefix, tombstone, watch, Duration.ofSeconds(2));
    }

    /** The defaults with another prefix. */
    public static RedisSettings ofPrefix(String prefix) {
        return new RedisSettings(prefix, Duration.ofSeconds(30), Duration.ofSeconds(5));
    }
}
