package io.github.distributedpermit.backend.redis;

import java.time.Duration;

/**
 * How permits are kept in Redis.
 *
 * @param prefix of every key and channel; all applications that use the same prefix and server share their limits.
 *     Default {@value #DEFAULT_PREFIX}
 * @param tombstone how long the store remembers a member that has returned everything, so that a late message of it
 *     changes nothing; longer than any message may be late. Default 30 s
 * @param watch how often a member makes sure that it still hears its notices. Default 5 s
 * @param commandTimeout how long each step of connecting may take. Default 2 s
 */
public record RedisSettings(String prefix, Duration tombstone, Duration watch, Duration commandTimeout) {

    /** The prefix if none is set. */
    public static final String DEFAULT_PREFIX = "distributed-permit";

    /** Checks the values. */
    public RedisSettings {
        if (prefix.isBlank() || prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            throw new IllegalArgumentException(
                    "A key prefix for Redis has some text and no braces, which pick the hash slot: '" + prefix + "'");
        }
        if (isNone(tombstone) || isNone(watch) || isNone(commandTimeout)) {
            throw new IllegalArgumentException(
                    "tombstone %s, watch %s, command time-out %s".formatted(tombstone, watch, commandTimeout));
        }
    }

    private static boolean isNone(Duration duration) {
        return duration.isNegative() || duration.isZero();
    }

    /** With the default for connecting. */
    public RedisSettings(String prefix, Duration tombstone, Duration watch) {
        this(prefix, tombstone, watch, Duration.ofSeconds(2));
    }

    /** The defaults, with this prefix. */
    public static RedisSettings ofPrefix(String prefix) {
        return new RedisSettings(prefix, Duration.ofSeconds(30), Duration.ofSeconds(5));
    }
}
