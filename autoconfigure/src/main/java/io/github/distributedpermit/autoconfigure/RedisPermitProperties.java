package io.github.distributedpermit.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code distributed-permit.redis}. Where Redis is, {@code spring.data.redis.*} says.
 *
 * @param grace Whether Redis, after it may have lost state by a fail-over, a restart without data or FLUSHALL, first gives
 *     instances back what they hold, for up to one lease, before it grants other permits. Needs the right to run INFO;
 *     without it, permits work as with 'false', and a warning at start says so.
 * @param newServerGrace How long a Redis server without any data, which no instance remembers, waits for its instances,
 *     counted from its start. Zero for not at all; the lease is the strict choice.
 * @param waitForReplica Whether a claim counts only when a replica of Redis has confirmed it (WAIT 1), within a quarter of the
 *     command time-out. A master that is cut off from all its replicas then grants and renews nothing. Needs a replica and the right
 *     to run WAIT; each claim takes a round trip to the replica longer. Not in a Redis Cluster.
 * @param ownConnection Whether permits have a Lettuce connection of their own, with the settings spring.data.redis.*, in an application that
 *     connects with another client, such as Jedis or Redisson.
 */
@ConfigurationProperties("distributed-permit.redis")
public record RedisPermitProperties(
        @DefaultValue("true") boolean grace,
        @DefaultValue("3s") Duration newServerGrace,
        @DefaultValue("false") boolean waitForReplica,
        @DefaultValue("false") boolean ownConnection) {}
