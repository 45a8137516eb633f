package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ConsulStore;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of one Consul agent. */
final class ConsulScenarios {

    private static final int LONG = 20;
    private static final int SLOW = 5;

    /** A session that is not renewed ends after up to twice its TTL; the notification takes a while longer. */
    private static final Duration TWO_TTL = ConsulStore.TTL.multipliedBy(2).plusSeconds(3);

    private static final Duration SOON = Duration.ofSeconds(3);

    private static final Orders MODERATE = new Orders(0, 3, 2, 10_000, 60_000, 5_000, 10, 0);

    /** The same with calls that hold for up to three seconds. */
    private static final Orders LONG_HOLDS = new Orders(0, 3, 2, 10_000, 3_000_000, 5_000, 10, 0);

    private static final Setup IN_LINE =
            new Setup(4, 1, Setup.HOUR, new Orders(0, 1, 1, 50_000, 70_000, 40_000, 0, 0), TWO_TTL, TWO_TTL, List.of());

    /** A third of the TTL, and an answer on a busy machine. */
    private static final Duration NOTICED = ConsulStore.TTL.dividedBy(3).plusMillis(1_700);

    /** One process holds for longer than it may take to notice and asks for nothing else, and another waits. */
    private static final Setup HELD_LONG = new Setup(
                    2, 1, Setup.HOUR, new Orders(0, 1, 1, 9_000_000, 9_900_000, 25_000, 0, 0), NOTICED, null, List.of())
            .withOver(NOTICED);

    private ConsulScenarios() {}

    static List<Scenario<ConsulStore>> all() {
        return List.of(
                row(
                        "consul-none",
                        "none: a hit is 1,000 grants",
                        "never more than the limit",
                        LONG,
                        setup(SOON).withOrders(new Orders(0, 8, 8, 0, 0, 3_000, 10, 0)),
                        (stage, store) -> stage.awaitGrants(1_000)),
                row(
                        "consul-races",
                        "a hit is 100 calls cancelled or interrupted at any moment, while others wait and take",
                        "no permit is lost",
                        LONG,
                        setup(SOON).withOrders(new Orders(0, 4, 2, 0, 10_000, 5_000, 0, 60)),
                        (stage, store) -> stage.awaitGivenUp(100)),
                row(
                        "consul-linger-races",
                        "a hit is 100 calls cancelled or interrupted at any moment, while released permits stay for 10 ms (`linger`)",
                        "no permit is lost",
                        LONG,
                        setup(SOON)
                                .withOrders(new Orders(0, 4, 2, 0, 10_000, 5_000, 0, 60))
                                .with(Setup.LINGER),
                        (stage, store) -> stage.awaitGivenUp(100)),
                row(
                        "consul-kill-holder",
                        "`kill -9` of a process that holds",
                        "the permit is back when the session has ended, after about 2 x TTL (10 s)",
                        SLOW,
                        setup(TWO_TTL),
                        ConsulFaults::killHolder),
                row(
                        "consul-kill-waiter",
                        "`kill -9` of a waiting process",
                        "served at most until its session ends, the order of the others stays",
                        SLOW,
                        IN_LINE,
                        ConsulFaults::killWaiter),
                row(
                        "consul-sigterm",
                        "`SIGTERM` of a process that holds and waits",
                        "it leaves within two seconds and everything goes back",
                        LONG,
                        setup(SOON),
                        ProcessFaults::terminate),
                row(
                        "consul-sigstop",
                        "`SIGSTOP` of a holder until after its session, then `SIGCONT`",
                        "others are served after the session; the stopped process is notified of its loss first",
                        SLOW,
                        setup(TWO_TTL).withOrders(LONG_HOLDS),
                        ConsulFaults::stopHolder),
                row(
                        "consul-wall-clock",
                        "a member's wall clock is a minute wrong, and jumps by up to a day, while it holds",
                        "no effect, nothing is lost",
                        LONG,
                        setup(SOON).withOrders(LONG_HOLDS),
                        new WallClock()::strike),
                row(
                        "consul-session-destroyed",
                        "an operator destroys a session",
                        "the loss is notified within one blocking query; named exception until then",
                        LONG,
                        setup(SOON),
                        ConsulFaults::destroySession),
                row(
                        "consul-tree-deleted",
                        "an operator deletes all keys",
                        "the loss is notified within one blocking query; named exception until then",
                        LONG,
                        setup(SOON),
                        ConsulFaults::deleteTree),
                row(
                        "consul-key-deleted",
                        "an operator deletes one key while calls hold it for 8 s",
                        "the holder is notified within a third of the TTL; named exception until then",
                        SLOW,
                        HELD_LONG,
                        ConsulFaults::deleteKey),
                row(
                        "consul-key-deleted-lock-file",
                        "likewise in the layout `lock-file`",
                        "the holder is notified within a third of the TTL; named exception until then",
                        SLOW,
                        HELD_LONG.with("--distributed-permit.consul.layout=lock-file"),
                        ConsulFaults::deleteKey),
                row(
                        "consul-foreign-lock",
                        "layout `lock-file`: `.lock` is overwritten with foreign data for 0.5 to 2 s, then restored",
                        "errors, and what is not ours is not overwritten; held or lost, never both",
                        LONG,
                        setup(Duration.ofSeconds(8))
                                .withOrders(LONG_HOLDS)
                                .with("--distributed-permit.consul.layout=lock-file"),
                        ConsulFaults::damageLock),
                row(
                        "consul-restart-empty",
                        "the agent is killed and comes back empty: its index goes backwards",
                        "index reset, no change missed; named exception until holders have heard",
                        LONG,
                        setup(Duration.ofSeconds(8)),
                        ConsulFaults::restartEmpty));
    }

    private static Setup setup(Duration recovery) {
        return Setup.ordinary(Setup.HOUR, recovery).withOrders(MODERATE);
    }

    private static Scenario<ConsulStore> row(
            String name, String fault, String expected, int hits, Setup setup, Scenario.Blow<ConsulStore> blow) {
        return new Scenario<>(name, "Consul", fault, expected, hits, setup, ConsulStore::start, blow);
    }
}
