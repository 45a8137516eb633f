package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.ConsulFrontStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.Ending;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The rows of a Consul that answers, but not what it was asked for. */
final class ConsulAnswers {

    private static final int LONG = 20;

    /** For claims and blocking queries to succeed again: pauses between attempts grow to seconds. */
    private static final Duration BACK = Duration.ofSeconds(8);

    /** Of all members together: one for each key in its pauses, and their renewals. */
    private static final int REQUESTS_PER_SECOND = 20;

    private static final Orders ORDERS = new Orders(0, 3, 2, 10_000, 3_000_000, 5_000, 10, 0);

    private static final int HUGE = 10 << 20;

    private static final List<Map.Entry<Integer, String>> NONSENSE = List.of(
            Map.entry(500, "rpc error: No cluster leader"),
            Map.entry(429, "slow down"),
            Map.entry(503, "<html>busy</html>"),
            Map.entry(200, "<html>welcome</html>"),
            Map.entry(200, "{\"Results\":["),
            Map.entry(200, " ".repeat(HUGE)));

    private int next;

    private ConsulAnswers() {}

    static List<Scenario<ConsulFrontStore>> all() {
        return List.of(
                row(
                        "consul-acl-denied",
                        "the members' token loses its policy for 2 to 4 s, with or without that for sessions",
                        "an error that says so, at most 20 requests a second, and no member takes it for \"all permits are free\"",
                        new ConsulAnswers()::deny),
                row(
                        "consul-bad-answers",
                        "every answer is 500, 429, HTML, malformed or of 10 MB for 0.5 to 2.5 s",
                        "calls are retried until their wait ends; held or lost, never both",
                        new ConsulAnswers()::talkNonsense));
    }

    private static Scenario<ConsulFrontStore> row(
            String name, String fault, String expected, Scenario.Blow<ConsulFrontStore> blow) {
        return new Scenario<>(
                name,
                "Consul",
                fault,
                expected,
                LONG,
                Setup.ordinary(Setup.HOUR, BACK).withOrders(ORDERS),
                ConsulFrontStore::startBehindFront,
                blow);
    }

    private boolean deny(Stage stage, ConsulFrontStore store) throws Exception {
        boolean sessions = next++ % 2 == 1;
        Duration time = stage.between(Duration.ofSeconds(2), Duration.ofSeconds(4));
        stage.aim(Call::isInside);
        int from = stage.log().size();
        int before = store.front().requests().size();
        stage.outage(() -> {
            store.deny(sessions);
            Stage.during(time);
            store.allow();
        });
        int requests = store.front().requests().size() - before;
        stage.expect(
                requests < REQUESTS_PER_SECOND * time.toMillis() / 1_000,
                "%d requests in %d ms without rights".formatted(requests, time.toMillis()));
        return stage.log().calls(from).stream().anyMatch(call -> call.ending() == Ending.FAILED);
    }

    private boolean talkNonsense(Stage stage, ConsulFrontStore store) throws Exception {
        Map.Entry<Integer, String> nonsense = NONSENSE.get(next++ % NONSENSE.size());
        Duration time = stage.between(Duration.ofMillis(500), Duration.ofMillis(2_500));
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        int from = store.front().requests().size();
        stage.outage(() -> {
            store.front().answer("/", nonsense.getKey(), nonsense.getValue());
            hit[0] = stage.someone(Call::isInside);
            Stage.during(time);
            store.front().behave();
        });
        return hit[0] && store.front().requests().size() > from;
    }
}
