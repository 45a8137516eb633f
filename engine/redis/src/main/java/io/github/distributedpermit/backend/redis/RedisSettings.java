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
 * @param grace whether a server that may have lost state, for example by a fail-over, first gives members back what they hold,
 *     for up to one lease, before it grants other permits. Default true
 * @param newServerGrace how long a server without any data that no member remembers waits for its members, counted from its
 *     start. Default 3 s; 0 for not at all
 * @param waitForReplica whether an answer to a claim counts only when a replica has confirmed it, within a quarter of
 *     {@code commandTimeout}; not in a Redis Cluster. Default false
 */
public record RedisSettings(
        String prefix,
        Duration tombstone,
        Duration watch,
        Duration commandTimeout,
        boolean grace,
        Duration newServerGrace,
        boolean waitForReplica) {

    /** The prefix if none is set. */
    public static final String DEFAULT_PREFIX = "distributed-permit";

    /** How long a new server waits if nothing is set. */
    public static final Duration DEFAULT_NEW_SERVER_GRACE = Duration.ofSeconds(3);

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
        if (newServerGrace.isNegative()) {
            throw new IllegalArgumentException(
                    "distributed-permit.redis.new-server-grace is 0 or more, not " + newServerGrace);
        }
    }

    /** With a grace after a loss of state, and the default time for new servers. */
    public RedisSettings(String prefix, Duration tombstone, Duration watch, Duration commandTimeout) {
        this(prefix, tombstone, watch, commandTimeout, true, DEFAULT_NEW_SERVER_GRACE, false);
    }

    /** The same with a grace after a loss of state, and this time for new servers. */
    public RedisSettings withGrace(Duration forNewServers) {
        return new RedisSettings(prefix, tombstone, watch, commandTimeout, true, forNewServers, waitForReplica);
    }

    /** The same without a grace: a server that lost state grants permits at once that others may still hold. */
    public RedisSettings withoutGrace() {
        return new RedisSettings(prefix, tombstone, watch, commandTimeout, false, newServerGrace, waitForReplica);
    }

    /** The same, where an answer to a claim counts only when a replica has confirmed it. */
    public RedisSettings withWaitForReplica() {
        return new RedisSettings(prefix, tombstone, watch, commandTimeout, grace, newServerGrace, true);
    }

    /** A duration of 0 would remove tombstones at once, or check without a pause. */
    private static boolean isNone(Duration duration) {
        return duration.isNegative() || duration.isZero();
    }

    /** With the default of {@code commandTimeout}. */
    public RedisSettings(String prefix, Duration tombstone, Duration watch) {
        this(prefix, tombstone, watch, Duration.ofSeconds(2));
    }

    /** The defaults with another prefix. */
    public static RedisSettings ofPrefix(String prefix) {
        return of(prefix, Duration.ofSeconds(2));
    }

    /** The defaults with another prefix and command time-out. */
    public static RedisSettings of(String prefix, Duration commandTimeout) {
        return new RedisSettings(prefix, Duration.ofSeconds(30), Duration.ofSeconds(5), commandTimeout);
    }
}
