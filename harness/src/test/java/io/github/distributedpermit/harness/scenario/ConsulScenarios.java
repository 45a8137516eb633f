package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.consulserver.ConsulProbe.Session;
import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.ConsulStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;

/** The rows of one Consul agent. */
final class ConsulScenarios {

    private static final int LONG = 20;
    private static final int SLOW = 5;

    /** A session that is renewed no more ends after up to twice its TTL; then there is a delay until somebody hears. */
    private static final Duration TWO_TTL = ConsulStore.TTL.multipliedBy(2).plusSeconds(3);

    private static final Duration SOON = Duration.ofSeconds(3);

    /** How long after an operator's deed a holder may not have heard of it. */
    private static final Duration HEARD = Duration.ofSeconds(1);

    private static final Orders MODERATE = new Orders(0, 3, 2, 10_000, 60_000, 5_000, 10, 0);

    private ConsulScenarios() {}

    static List<Scenario<ConsulStore>> all() {
        return List.of(
                row(
                        "consul-races",
                        "a hit is 100 calls cancelled or interrupted at any moment, while others wait and take",
                        "no permit is lost",
                        LONG,
                        setup(SOON).withOrders(new Orders(0, 4, 2, 0, 10_000, 5_000, 0, 60)),
                        (stage, store) -> stage.awaitGivenUp(100)),
                row(
                        "consul-kill-holder",
                        "`kill -9` of a process that holds",
                        "the permit is back when the session has ended, after about 2 x TTL (10 s)",
                        SLOW,
                        setup(TWO_TTL),
                        ConsulScenarios::killHolder),
                row(
                        "consul-session-destroyed",
                        "an operator destroys a session",
                        "the loss is told within one blocking query; named exception until then",
                        LONG,
                        setup(SOON),
                        ConsulScenarios::destroySession),
                row(
                        "consul-tree-deleted",
                        "an operator deletes all keys",
                        "the loss is told within one blocking query; named exception until then",
                        LONG,
                        setup(SOON),
                        ConsulScenarios::deleteTree),
                row(
                        "consul-restart-empty",
                        "the agent is killed and comes back empty: its index goes backwards",
                        "index reset, no change missed; named exception until holders have heard",
                        SLOW,
                        setup(Duration.ofSeconds(8)),
                        ConsulScenarios::restartEmpty));
    }

    private static Setup setup(Duration recovery) {
        return Setup.ordinary(Setup.HOUR, recovery).withOrders(MODERATE);
    }

    private static Scenario<ConsulStore> row(
            String name, String fault, String expected, int hits, Setup setup, Scenario.Blow<ConsulStore> blow) {
        return new Scenario<>(name, "Consul", fault, expected, hits, setup, ConsulStore::start, blow);
    }

    /** The next blow comes when the dead session has ended: till then a permit may go from one dead process to another. */
    private static boolean killHolder(Stage stage, ConsulStore store) throws Exception {
        List<String> before = sessions(store);
        boolean hit = ProcessFaults.killHolder(stage, store);
        stage.await("Consul to end the session", () -> !sessions(store).containsAll(before));
        return hit;
    }

    private static List<String> sessions(ConsulStore store) {
        return store.operator().sessions().stream().map(Session::id).toList();
    }

    private static boolean destroySession(Stage stage, ConsulStore store) throws Exception {
        stage.aim(Call::isInside);
        List<Session> sessions = store.operator().sessions();
        if (sessions.isEmpty()) {
            return false;
        }
        long from = System.nanoTime();
        store.operator()
                .destroySession(
                        sessions.get(stage.random().nextInt(sessions.size())).id());
        excuse(stage, from, HEARD);
        return true;
    }

    private static boolean deleteTree(Stage stage, ConsulStore store) throws Exception {
        stage.aim(Call::isInside);
        long from = System.nanoTime();
        store.operator().deleteTree(ConsulStore.ROOT);
        boolean hit = stage.someone(Call::isInside);
        excuse(stage, from, HEARD);
        return hit;
    }

    private static boolean restartEmpty(Stage stage, ConsulStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        long from = System.nanoTime();
        stage.outage(() -> {
            store.server().kill();
            hit[0] = stage.someone(Call::isInside);
            stage.circumstances().reborn(System.nanoTime());
            store.server().run();
        });
        excuse(stage, from, ConsulStore.TTL);
        return hit[0];
    }

    private static void excuse(Stage stage, long from, Duration after) {
        stage.circumstances().excuse(new Span(from, System.nanoTime() + after.toNanos()));
    }
}
