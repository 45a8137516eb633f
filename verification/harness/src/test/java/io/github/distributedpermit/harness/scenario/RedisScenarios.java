package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of one Redis server. */
final class RedisScenarios {

    private static final int LONG = 20;

    /** The lease, and what a machine needs that starts JVMs at the same time. */
    private static final Duration A_LEASE = Setup.SHORT.plusMillis(1_500);

    /** The re-check, and what it takes to answer on a busy machine. */
    private static final Duration A_RECHECK = Duration.ofMillis(1_400);

    /** The connection is made anew, and a failing store is asked again within a second and a bit. */
    private static final Duration RECONNECTED = Duration.ofMillis(2_500);

    private static final Orders BUSY = new Orders(0, 8, 8, 0, 0, 3_000, 10, 0);
    private static final Orders RACES = new Orders(0, 8, 2, 0, 3_000, 3_000, 0, 80);

    private RedisScenarios() {}

    static List<Scenario<RedisStore>> all() {
        return List.of(
                row(
                        "redis-none",
                        "none: a hit is 50,000 grants",
                        "never more than the limit",
                        Setup.ordinary(Setup.HOUR, A_RECHECK).withOrders(BUSY),
                        (stage, store) -> stage.awaitGrants(50_000)),
                row(
                        "redis-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while others wait and take",
                        "no permit is lost; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, A_RECHECK).withOrders(RACES),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "redis-linger-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while released permits stay for 10 ms (`linger`)",
                        "no permit is lost; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, A_RECHECK).withOrders(RACES).with(Setup.LINGER),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "redis-kill-holder",
                        "`kill -9` of a process that holds",
                        "the permit is back within the lease",
                        Setup.ordinary(Setup.SHORT, A_LEASE),
                        ProcessFaults::killHolder),
                row(
                        "redis-kill-waiter",
                        "`kill -9` of a waiting process",
                        "its place is skipped, the order of the others stays",
                        inQueue(Setup.SHORT, 50_000, 70_000),
                        ProcessFaults::killWaiter),
                row(
                        "redis-sigterm",
                        "`SIGTERM` of a process that holds and waits",
                        "it leaves within two seconds and everything goes back; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, A_RECHECK),
                        ProcessFaults::terminate),
                row(
                        "redis-sigstop",
                        "`SIGSTOP` of a holder for longer than the lease, then `SIGCONT`",
                        "others are served after the lease; the stopped process is notified of its loss first",
                        Setup.ordinary(Setup.SHORT, A_LEASE).withLongHolds(),
                        ProcessFaults::stopHolder),
                row(
                        "redis-stack-overflow",
                        "200 calls so deep in a stack that many end with `StackOverflowError`, while others use the same keys",
                        "it costs those calls; the process goes on, no permit is lost; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED),
                        ProcessFaults::overflow),
                row(
                        "redis-wall-clock",
                        "a member's wall clock is a minute wrong, and jumps by up to a day, while it holds",
                        "no effect, nothing is lost; the lease is ten seconds",
                        Setup.ordinary(Duration.ofSeconds(10), A_RECHECK).withLongHolds(),
                        new WallClock()::strike),
                row(
                        "redis-restart-empty",
                        "`kill -9` of Redis, restarted empty",
                        "named exception: over the limit for at most a lease; losses are notified, tokens do not restart",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds().withoutGrace(),
                        RedisFaults::restartEmpty),
                row(
                        "redis-flushall",
                        "`FLUSHALL`",
                        "named exception: over the limit for at most a lease; losses are notified, tokens do not restart",
                        Setup.ordinary(Setup.SHORT, A_RECHECK).withLongHolds().withoutGrace(),
                        RedisFaults::flushAll),
                row(
                        "redis-script-flush",
                        "`SCRIPT FLUSH`",
                        "no effect",
                        Setup.ordinary(Setup.HOUR, A_RECHECK),
                        RedisFaults::scriptFlush),
                row(
                        "redis-stop-short",
                        "Redis stopped for less than the lease",
                        "holders hold on, calls end at their time-out",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        RedisFaults::stopShort),
                row(
                        "redis-stop-long",
                        "Redis stopped for longer than the lease",
                        "held or lost, never both",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        RedisFaults::stopLong),
                row(
                        "redis-kill-normal",
                        "`CLIENT KILL TYPE normal` while calls wait",
                        "repeated claims have no double effect; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED).withLongHolds(),
                        RedisFaults::killNormal),
                row(
                        "redis-kill-pubsub",
                        "`CLIENT KILL TYPE pubsub` while calls wait",
                        "lost notices are repaired by the re-check; the lease is an hour",
                        inQueue(Setup.HOUR, 5_000, 20_000),
                        RedisFaults::killPubSub),
                row(
                        "redis-client-pause",
                        "`CLIENT PAUSE`, 0.1 to 1.5 s: late answers, late writes",
                        "no double effect; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED).withLongHolds(),
                        RedisFaults::pause),
                row(
                        "redis-out-of-memory",
                        "`maxmemory` reached, `noeviction`",
                        "grants are refused with an error, returns go through; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED).withLongHolds(),
                        RedisFaults::outOfMemory),
                row(
                        "redis-bad-answers",
                        "`READONLY`, `MASTERDOWN`, `NOREPLICAS` or `BUSY` for 0.1 to 0.9 s",
                        "calls are retried until their wait ends; held or lost, never both",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        new BadAnswers()::strike),
                new Scenario<>(
                        "redis-eviction-warning",
                        "Redis",
                        "a member starts at a server with `maxmemory-policy allkeys-lru`",
                        "a loud warning in its log",
                        5,
                        Setup.ordinary(Setup.SHORT, A_LEASE),
                        () -> RedisStore.start("--maxmemory-policy", "allkeys-lru"),
                        RedisFaults::warnsOfEviction));
    }

    /** One thread to a process, so that the order between processes is the order of all. */
    private static Setup inQueue(Duration lease, int minHoldMicros, int maxHoldMicros) {
        Orders orders = new Orders(0, 1, 1, minHoldMicros, maxHoldMicros, 5_000, 0, 0);
        return new Setup(5, 1, lease, orders, A_RECHECK, A_RECHECK, List.of());
    }

    private static Scenario<RedisStore> row(
            String name, String fault, String expected, Setup setup, Scenario.Blow<RedisStore> blow) {
        return new Scenario<>(name, "Redis", fault, expected, LONG, setup, RedisStore::start, blow);
    }
}
