package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ClusterStore;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.fleet.SentinelStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of Redis servers that lose state, with the default {@code distributed-permit.redis.grace=true}. Nothing is excused. */
final class GraceScenarios {

    private static final int LONG = 20;

    /** How long a master is silent before it counts as down: so short that members still hold when another is promoted. */
    private static final Duration DOWN_AFTER = Duration.ofSeconds(1);

    private static final Duration LEASE = Duration.ofSeconds(3);

    /** The lease of the grace, the connection, and a busy machine. */
    private static final Duration A_GRACE = LEASE.plusMillis(2_500);

    /** Likewise, where members have to find the new master. */
    private static final Duration MOVED = LEASE.plusSeconds(4);

    /** A second loss begins the grace anew. */
    private static final Duration TWO_GRACES = LEASE.plus(A_GRACE);

    private static final Duration RECONNECTED = Duration.ofMillis(2_500);

    /** How punctual time-outs are is measured in other rows; these run several at once. */
    private static final Duration LATE = Duration.ofMillis(500);

    /** One key, so that the time to its first call says what becomes of the keys of the node that is lost. */
    private static final Orders ONE_KEY = new Orders(0, 3, 1, 10_000, 3_000_000, 3_000, 10, 5);

    /** Holds so short that a process leaves within two seconds. */
    private static final Orders SHORT_HOLDS = new Orders(0, 8, 4, 10_000, 400_000, 3_000, 10, 5);

    private static final String NEVER = "never over the limit; free permits wait for up to a lease";

    private static final String NO_GRACE = "never over the limit, no permit is lost, no grace";

    private GraceScenarios() {}

    static List<Scenario<?>> all() {
        return List.of(
                single(
                        "redis-grace-flushall",
                        "`FLUSHALL`, every second time twice within a lease",
                        NEVER,
                        setup(TWO_GRACES),
                        GraceFaults::flushAll),
                single(
                        "redis-grace-restart-empty",
                        "`kill -9` of Redis, restarted empty",
                        NEVER,
                        setup(A_GRACE),
                        GraceFaults::restartEmpty),
                single(
                        "redis-grace-old-snapshot",
                        "`kill -9` of Redis, restarted with a snapshot from 0 to 6 s before",
                        NEVER,
                        setup(A_GRACE),
                        GraceFaults::restartOld),
                single(
                        "redis-grace-swapdb",
                        "`SWAPDB` puts an empty database in the place of the one in use",
                        NEVER,
                        setup(A_GRACE),
                        GraceFaults::swap),
                single(
                        "redis-grace-first-replica",
                        "a replica connects to a server that has none, and leaves",
                        NO_GRACE,
                        setup(RECONNECTED),
                        "--repl-backlog-ttl 1 --repl-diskless-sync-delay 0",
                        GraceFaults::firstReplica),
                single(
                        "redis-grace-member-restart",
                        "`SIGTERM` or `kill -9` of a process that holds; another one starts",
                        NO_GRACE,
                        setup(LEASE.plusMillis(1_500)).withOrders(SHORT_HOLDS),
                        GraceFaults::restartMember),
                sentinel(
                        "redis-grace-lagging-replica",
                        "`kill -9` of the master; Sentinels promote its replica, from which replication was held back for 0 to 10 s",
                        GraceFaults::lag),
                sentinel(
                        "redis-grace-command",
                        "`SENTINEL FAILOVER`; the old master can be reached all the time",
                        GraceFaults::failOver),
                sentinel(
                        "redis-grace-thaw",
                        "`SIGSTOP` of the master until Sentinels have promoted its replica, or every process was served by that; then `SIGCONT`",
                        GraceFaults::thaw),
                sentinel(
                        "redis-grace-sigterm",
                        "`SIGTERM` of the master; Sentinels promote its replica, then it comes back empty",
                        GraceFaults::terminate),
                sentinel(
                        "redis-grace-cut-off",
                        "Sentinels and replica can't reach the master, members can; connections of some are reset; healed 0 to 4 s after the fail-over",
                        GraceFaults::cutOff),
                new Scenario<>(
                        "redis-grace-min-replicas",
                        "Redis",
                        "like `redis-grace-cut-off` with two replicas, `min-replicas-to-write 1`, `min-replicas-max-lag 1`",
                        NEVER,
                        LONG,
                        setup(MOVED),
                        () -> SentinelStore.start(
                                2, DOWN_AFTER, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"),
                        GraceFaults::cutOffFromAll),
                new Scenario<>(
                        "redis-grace-wait-for-replica",
                        "Redis",
                        "like `redis-grace-cut-off` with two replicas, `distributed-permit.redis.wait-for-replica=true`",
                        NEVER,
                        LONG,
                        setup(MOVED).with("--distributed-permit.redis.wait-for-replica=true"),
                        () -> SentinelStore.start(2, DOWN_AFTER),
                        GraceFaults::cutOffFromAll),
                new Scenario<>(
                        "redis-grace-cluster-migration",
                        "Redis",
                        "the hash slot of a key in use moves to another master, part by part",
                        NO_GRACE,
                        LONG,
                        setup(Duration.ofMillis(3_500)),
                        ClusterStore::start,
                        GraceFaults::migrate),
                new Scenario<>(
                        "redis-grace-cluster-failover",
                        "Redis",
                        "`kill -9` of the master of a key in use; its replica is promoted, then it comes back empty; `cluster-node-timeout 1500`",
                        NEVER,
                        LONG,
                        setup(MOVED).withOrders(ONE_KEY),
                        () -> ClusterStore.startWithReplicas(Duration.ofMillis(1_500)),
                        GraceFaults::failOverInCluster));
    }

    private static Setup setup(Duration recovery) {
        return Setup.ordinary(LEASE, recovery)
                .withLongHolds()
                .withLate(LATE)
                .with("--distributed-permit.redis.grace=" + System.getProperty("harness.grace", "true"));
    }

    private static Scenario<RedisStore> single(
            String name, String fault, String expected, Setup setup, Scenario.Blow<RedisStore> blow) {
        return new Scenario<>(name, "Redis", fault, expected, LONG, setup, RedisStore::start, blow);
    }

    private static Scenario<RedisStore> single(
            String name, String fault, String expected, Setup setup, String options, Scenario.Blow<RedisStore> blow) {
        return new Scenario<>(
                name, "Redis", fault, expected, LONG, setup, () -> RedisStore.start(options.split(" ")), blow);
    }

    private static Scenario<SentinelStore> sentinel(String name, String fault, Scenario.Blow<SentinelStore> blow) {
        return new Scenario<>(
                name, "Redis", fault, NEVER, LONG, setup(MOVED), () -> SentinelStore.start(1, DOWN_AFTER), blow);
    }
}
