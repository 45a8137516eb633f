package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.SentinelStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of Redis servers that Sentinels watch. */
final class SentinelScenarios {

    private static final int LONG = 20;
    private static final int SLOW = 5;

    /** How long a master is silent before it counts as down: less than the lease, as where both have usual values. */
    private static final Duration DOWN_AFTER = Duration.ofSeconds(2);

    private static final Duration LEASE = Duration.ofSeconds(3);

    /** What {@code docs/guarantees.md} promises after a fail-over. */
    private static final Duration OVER = LEASE;

    /** For members to find the new master, and a busy machine. */
    private static final Duration MOVED = Duration.ofSeconds(4);

    private static final Duration FIRST_CALL = Duration.ofSeconds(3);

    /** More than {@code min-replicas-max-lag}, the second in which the server looks, and the lease together. */
    private static final Duration LONG_DOWN_AFTER = Duration.ofSeconds(6);

    private static final Orders HOLDS = new Orders(0, 8, 4, 100_000, 400_000, 3_000, 10, 5);

    private static final Setup ROLES =
            Setup.ordinary(LEASE, MOVED).withLongHolds().withOver(OVER).withoutGrace();

    /** Permits are held so shortly that no call waits long for another. The lease ends before there is another master. */
    private static final Setup FIRST = Setup.ordinary(Setup.SHORT, MOVED)
            .withOver(Setup.SHORT)
            .withFirstCall(FIRST_CALL)
            .withoutGrace();

    private SentinelScenarios() {}

    static List<Scenario<SentinelStore>> all() {
        return List.of(
                row(
                        "redis-sentinel-failover",
                        "`kill -9` of the master; Sentinels make its replica the master, then it comes back empty",
                        "service is back in seconds; named exception: over the limit for at most a lease",
                        LONG,
                        ROLES,
                        SentinelFaults::kill),
                row(
                        "redis-sentinel-thaw",
                        "`SIGSTOP` of the master until Sentinels have made its replica the master, then `SIGCONT`",
                        "service is back in seconds; named exception: over the limit for at most a lease",
                        LONG,
                        ROLES,
                        SentinelFaults::thaw),
                row(
                        "redis-sentinel-cut-off",
                        "Sentinels and replica can't reach the master, members can; connections of some are reset; healed 0 to 4 s after the fail-over",
                        "members leave the old master; named exception: over the limit for at most a lease",
                        LONG,
                        ROLES,
                        SentinelFaults::cutOff),
                row(
                        "redis-sentinel-command",
                        "`SENTINEL FAILOVER` while calls hold for 100 to 400 ms; the old master can be reached all the time",
                        "members leave the old master; named exception: over the limit for at most a lease",
                        LONG,
                        ROLES.withOrders(HOLDS),
                        SentinelFaults::failOver),
                row(
                        "redis-sentinel-frozen",
                        "`SIGSTOP` of the master until every member has got a permit of the new one",
                        "served by the new master within three seconds",
                        SLOW,
                        FIRST,
                        SentinelFaults::frozen),
                row(
                        "redis-sentinel-vanished",
                        "the master's host drops all packets, also those that connect, until every member has got a permit",
                        "served by the new master within three seconds",
                        SLOW,
                        FIRST,
                        SentinelFaults::vanished),
                new Scenario<>(
                        "redis-sentinel-min-replicas",
                        "Redis",
                        "like `redis-sentinel-cut-off` with two replicas, `min-replicas-to-write 1`, `min-replicas-max-lag 1`, `down-after-milliseconds 6000`",
                        "never over the limit; served by the new master within three seconds of its first replica",
                        SLOW,
                        Setup.ordinary(Setup.SHORT, MOVED)
                                .withFirstCall(FIRST_CALL)
                                .withoutGrace(),
                        () -> SentinelStore.start(
                                2, LONG_DOWN_AFTER, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"),
                        SentinelFaults::cutOffWithMinReplicas));
    }

    private static Scenario<SentinelStore> row(
            String name, String fault, String expected, int hits, Setup setup, Scenario.Blow<SentinelStore> blow) {
        return new Scenario<>(
                name, "Redis", fault, expected, hits, setup, () -> SentinelStore.start(1, DOWN_AFTER), blow);
    }
}
