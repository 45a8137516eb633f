package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.PostgresPairStore;
import io.github.distributedpermit.harness.fleet.PostgresStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of a relational database. */
final class PostgresScenarios {

    private static final int LONG = 20;

    /** The lease, the interval in which instances delete expired sessions, and what a machine needs that starts JVMs. */
    private static final Duration A_LEASE = Setup.SHORT.plusMillis(1_700);

    /** The re-check, and what it takes to answer on a busy machine. */
    private static final Duration A_RECHECK = Duration.ofMillis(1_400);

    /** The same where each change of a key waits for a disk that others use as well. */
    private static final Duration BUSY_DISK = Duration.ofSeconds(3);

    /** To connect again, and to claim again. */
    private static final Duration RECONNECTED = Duration.ofSeconds(4);

    /** The same, by all members at once, of a server that has just recovered. */
    private static final Duration RESTARTED = Duration.ofSeconds(6);

    /** One thread to a process, so that the order between processes is the order of all. */
    private static final Setup IN_QUEUE =
            new Setup(5, 1, Setup.SHORT, new Orders(0, 1, 1, 50_000, 70_000, 8_000, 0, 0), A_LEASE, A_LEASE, List.of());

    private PostgresScenarios() {}

    static List<Scenario<?>> all() {
        return List.of(
                row(
                        "database-none",
                        "none: a hit is 5,000 grants",
                        "never more than the limit",
                        Setup.ordinary(Setup.HOUR, BUSY_DISK).withOrders(new Orders(0, 8, 8, 0, 0, 3_000, 10, 0)),
                        (stage, store) -> stage.awaitGrants(5_000)),
                row(
                        "database-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while others wait and take",
                        "no permit is lost; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, A_RECHECK).withOrders(new Orders(0, 8, 2, 0, 3_000, 3_000, 0, 80)),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "database-linger-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while released permits stay for 10 ms (`linger`)",
                        "no permit is lost; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, A_RECHECK)
                                .withOrders(new Orders(0, 8, 2, 0, 3_000, 3_000, 0, 80))
                                .with(Setup.LINGER),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "database-kill-holder",
                        "`kill -9` of a process that holds",
                        "the permit is back when the session has ended",
                        Setup.ordinary(Setup.SHORT, A_LEASE),
                        PostgresFaults::killHolder),
                row(
                        "database-kill-waiter",
                        "`kill -9` of a waiting process",
                        "served at most until its session ends, the order of the others stays",
                        IN_QUEUE,
                        PostgresFaults::killWaiter),
                row(
                        "database-sigstop",
                        "`SIGSTOP` of a holder for longer than the lease, then `SIGCONT`",
                        "others are served after the lease; the stopped process is notified of its loss first",
                        Setup.ordinary(Setup.SHORT, A_LEASE).withLongHolds(),
                        ProcessFaults::stopHolder),
                row(
                        "database-kill-connections",
                        "the server ends all connections while calls wait",
                        "repeated claims have no double effect; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED).withLongHolds(),
                        PostgresFaults::killConnections),
                row(
                        "database-kill-backend",
                        "`kill -9` of the process of one connection: the server ends all others and recovers",
                        "sessions live on; no confirmed commit is lost",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        PostgresFaults::killBackend),
                row(
                        "database-restart",
                        "`kill -9` of the server and all of its processes, which comes back with its data",
                        "held or lost, never both",
                        Setup.ordinary(Setup.SHORT, RESTARTED).withLongHolds(),
                        PostgresFaults::restart),
                row(
                        "database-sigterm",
                        "`SIGTERM` of the server, which stops half a second later and comes back",
                        "held or lost, never both; no confirmed commit is lost",
                        Setup.ordinary(Setup.SHORT, RESTARTED).withLongHolds(),
                        PostgresFaults::terminate),
                row(
                        "database-stop-short",
                        "the server stopped for less than the lease",
                        "holders hold on, calls end at their time-out",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        PostgresFaults::stopShort),
                row(
                        "database-stop-long",
                        "the server stopped for longer than the lease",
                        "held or lost, never both",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        PostgresFaults::stopLong),
                row(
                        "database-rows-locked",
                        "another transaction locks the rows of all keys for 0.2 s to two leases",
                        "claims fail or wait, holders hold on",
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        PostgresFaults::lockRows),
                new Scenario<>(
                        "database-promotion",
                        "PostgreSQL",
                        "`kill -9` of the server; a standby is promoted that lacks the commits of the last 0.1 s to two leases",
                        "never over the limit; free permits wait for up to a lease",
                        LONG,
                        Setup.ordinary(Setup.SHORT, RESTARTED).withLongHolds(),
                        PostgresPairStore::start,
                        PostgresFaults::failOver),
                new Scenario<>(
                        "database-black-hole",
                        "PostgreSQL",
                        "nothing arrives one way or both ways for 0.2 to 2 leases; then late, or never",
                        "held or lost, never both",
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        PostgresStore::startBehindProxy,
                        (stage, store) -> NetworkFaults.blackHole(
                                stage, store.network(), Setup.SHORT.dividedBy(5), Setup.SHORT.multipliedBy(2))));
    }

    private static Scenario<PostgresStore> row(
            String name, String fault, String expected, Setup setup, Scenario.Blow<PostgresStore> blow) {
        return new Scenario<>(name, "PostgreSQL", fault, expected, LONG, setup, PostgresStore::start, blow);
    }
}
