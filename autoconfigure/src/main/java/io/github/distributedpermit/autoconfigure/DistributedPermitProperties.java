package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.consul.ConsulLayout;
import io.github.distributedpermit.core.PermitSettings;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code distributed-permit}.
 *
 * @param enabled Whether permits are taken at all. When false, annotated methods run without a limit, and so does code that
 *     uses the Permits bean.
 * @param backend Store of the permits. By default the only one whose client is on the classpath; 'local' has to be asked
 *     for.
 * @param keyPrefix What the names of all keys in the store begin with. Applications with the same prefix and store share
 *     their permits.
 * @param lease How long an instance's permits outlive its last sign of life, with Redis, a database and in memory; in Consul and
 *     ZooKeeper the length of its session. Consul takes 10 s to 24 h, and up to twice as long to
 *     end a session; ZooKeeper's servers keep it between 2 and 20 of their ticks.
 * @param instanceName Name of this instance for people, in health and operators' views. By default
 *     'application@host:pid'.
 * @param failFast Whether the application refuses to start when the store does not answer. Otherwise it starts and its
 *     health is DOWN until the store does.
 * @param defaults Settings for all permits, where neither the settings of the name nor the annotation say anything.
 * @param permits Settings of single permits, by name or by a pattern such as 'permits[tenant-*]'. They win over the annotation's attributes. Names that
 *     an annotation or PermitCatalog.define declares match in Boot's relaxed form, other names as they are written; brackets, such as 'permits[my:name].limit', give a name exactly.
 * @param http Permits of outgoing requests: for each HTTP service group, such as 'http.partner', the name of the permit that each of its requests takes.
 * @param executors Executor beans whose tasks take a permit each and run on Spring Boot's applicationTaskExecutor: for each name of a bean, such as
 *     'executors.exports', the name of the permit.
 */
@ConfigurationProperties("distributed-permit")
public record DistributedPermitProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Backend backend,
        @DefaultValue("distributed-permit") String keyPrefix,
        @DefaultValue("15s") Duration lease,
        @Nullable String instanceName,
        @DefaultValue("false") boolean failFast,
        @DefaultValue @NestedConfigurationProperty PermitSettings defaults,
        @DefaultValue Map<String, PermitSettings> permits,
        @DefaultValue Map<String, String> http,
        @DefaultValue Map<String, String> executors,
        @DefaultValue Redis redis,
        @DefaultValue Consul consul,
        @DefaultValue Zookeeper zookeeper,
        @DefaultValue Log log,
        @DefaultValue Metrics metrics) {

    /**
     * Where Redis is, {@code spring.data.redis.*} says.
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
    public record Redis(
            @DefaultValue("true") boolean grace,
            @DefaultValue("3s") Duration newServerGrace,
            @DefaultValue("false") boolean waitForReplica,
            @DefaultValue("false") boolean ownConnection) {}

    /**
     * Where Consul is, {@code spring.cloud.consul.*} says.
     *
     * @param layout How permits lie in Consul. All members that share a key use the same layout.
     * @param token ACL token. By default the one of Consul discovery: spring.cloud.consul.discovery.acl-token,
     *     spring.cloud.consul.token or consul.token. White space around it is no part of it. A
     *     rotated token is used as soon as the environment has it.
     */
    public record Consul(
            @DefaultValue("slots") ConsulLayout layout,
            @Nullable String token) {

        /** Says nothing of the token. */
        @Override
        public String toString() {
            return "Consul[layout=%s]".formatted(layout);
        }
    }

    /**
     * Of the client that is made for permits in ZooKeeper if the application has none of its own.
     *
     * @param connectString Servers of the ensemble, such as 'zk1:2181,zk2:2181,zk3:2181'; a path behind them confines the
     *     client to that part of the tree. Without effect if the application has a CuratorFramework bean.
     */
    public record Zookeeper(@DefaultValue("localhost:2181") String connectString) {}

    /**
     * What is logged.
     *
     * @param longWait How long a call may wait for a permit before a warning is logged, at most once a minute for each permit. Zero
     *     for no warning.
     * @param longHold How long a call may hold a permit before a warning is logged, at most once a minute for each permit. Zero
     *     for no warning.
     */
    public record Log(
            @DefaultValue("1m") Duration longWait,
            @DefaultValue("10m") Duration longHold) {}

    /**
     * What is measured.
     *
     * @param fleetRefresh How often the meters distributed.permit.fleet.* are read from the store. Zero for never.
     */
    public record Metrics(@DefaultValue("15s") Duration fleetRefresh) {}
}
