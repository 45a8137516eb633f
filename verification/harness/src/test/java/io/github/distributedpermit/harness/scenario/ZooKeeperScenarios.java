package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ZooKeeperStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of ZooKeeper. */
final class ZooKeeperScenarios {

    private static final int LONG = 20;

    /** The session, a tick of the server, the re-check, and what it takes to notice. */
    private static final Duration A_SESSION = ZooKeeperStore.SESSION.plusMillis(2_000);

    /** To connect again, and to ask again. */
    private static final Duration RECONNECTED = Duration.ofSeconds(4);

    private static final Duration SOON = Duration.ofMillis(1_500);

    private static final Setup IN_LINE = new Setup(
            5, 1, Setup.SHORT, new Orders(0, 1, 1, 50_000, 70_000, 8_000, 0, 0), A_SESSION, A_SESSION, List.of());

    private ZooKeeperScenarios() {}

    static List<Scenario<ZooKeeperStore>> all() {
        return List.of(
                row(
                        "zookeeper-none",
                        "none: a hit is 5,000 grants",
                        "never more than the limit",
                        1,
                        LONG,
                        Setup.ordinary(Setup.HOUR, SOON).withOrders(new Orders(0, 8, 8, 0, 0, 3_000, 10, 0)),
                        (stage, store) -> stage.awaitGrants(5_000)),
                row(
                        "zookeeper-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while others wait and take",
                        "no permit is lost",
                        1,
                        LONG,
                        Setup.ordinary(Setup.HOUR, SOON).withOrders(new Orders(0, 8, 2, 0, 3_000, 3_000, 0, 80)),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "zookeeper-linger-races",
                        "a hit is 500 calls cancelled or interrupted at any moment, while released permits stay for 10 ms (`linger`)",
                        "no permit is lost",
                        1,
                        LONG,
                        Setup.ordinary(Setup.HOUR, SOON)
                                .withOrders(new Orders(0, 8, 2, 0, 3_000, 3_000, 0, 80))
                                .with(Setup.LINGER),
                        (stage, store) -> stage.awaitGivenUp(500)),
                row(
                        "zookeeper-kill-holder",
                        "`kill -9` of a process that holds",
                        "the permit is back when the session has ended",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, A_SESSION),
                        ZooKeeperFaults::killHolder),
                row(
                        "zookeeper-kill-waiter",
                        "`kill -9` of a waiting process",
                        "served at most until its session ends, the order of the others stays",
                        1,
                        LONG,
                        IN_LINE,
                        ZooKeeperFaults::killWaiter),
                row(
                        "zookeeper-sigterm",
                        "`SIGTERM` of a process that holds and waits",
                        "it leaves within two seconds and everything goes back",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, SOON),
                        ProcessFaults::terminate),
                row(
                        "zookeeper-sigstop",
                        "`SIGSTOP` of a holder for longer than its session, then `SIGCONT`",
                        "others are served after the session; the stopped process is notified of its loss first",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, A_SESSION).withLongHolds(),
                        (stage, store) -> ProcessFaults.stopHolder(stage, A_SESSION)),
                row(
                        "zookeeper-wall-clock",
                        "a member's wall clock is a minute wrong, and jumps by up to a day, while it holds",
                        "no effect, nothing is lost",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, SOON).withLongHolds(),
                        new WallClock()::strike),
                row(
                        "zookeeper-session-killed",
                        "an operator ends a holder's session",
                        "the loss is notified when the holder has connected again; named exception until then",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED)
                                .withLongHolds()
                                .with("--harness.zookeeper=" + ZooKeeperStore.SESSION.toMillis()),
                        ZooKeeperFaults::killSession),
                row(
                        "zookeeper-node-deleted",
                        "the node of a member is deleted by hand",
                        "the loss is notified at once; named exception until then",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, SOON).withLongHolds(),
                        ZooKeeperFaults::deleteNode),
                row(
                        "zookeeper-restart",
                        "the one server is killed and comes back with its log",
                        "suspended is not lost",
                        1,
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        ZooKeeperFaults::restart),
                row(
                        "zookeeper-quorum",
                        "two of three servers are killed and come back after 0.5 to 6 s",
                        "held or lost, never both",
                        3,
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        ZooKeeperFaults::loseQuorum),
                new Scenario<>(
                        "zookeeper-read-only",
                        "ZooKeeper",
                        "two of three servers are killed for a while, the third serves reads; clients accept that",
                        "calls fail or wait, held or lost and never both",
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED)
                                .withLongHolds()
                                .with(
                                        "--harness.zookeeper=" + ZooKeeperStore.SESSION.toMillis(),
                                        "--harness.zookeeper-read-only=true"),
                        ZooKeeperStore::startReadOnly,
                        ZooKeeperFaults::serveReadsOnly),
                new Scenario<>(
                        "zookeeper-black-hole",
                        "ZooKeeper",
                        "nothing arrives one way or both ways for 0.5 to 6 s (session 3 s); then late, or never",
                        "held or lost, never both",
                        LONG,
                        Setup.ordinary(Setup.SHORT, RECONNECTED).withLongHolds(),
                        ZooKeeperStore::startBehindProxy,
                        (stage, store) -> NetworkFaults.blackHole(
                                stage,
                                store.network(),
                                ZooKeeperStore.SESSION.dividedBy(6),
                                ZooKeeperStore.SESSION.multipliedBy(2))));
    }

    private static Scenario<ZooKeeperStore> row(
            String name,
            String fault,
            String expected,
            int servers,
            int hits,
            Setup setup,
            Scenario.Blow<ZooKeeperStore> blow) {
        return new Scenario<>(
                name, "ZooKeeper", fault, expected, hits, setup, () -> ZooKeeperStore.start(servers), blow);
    }
}
