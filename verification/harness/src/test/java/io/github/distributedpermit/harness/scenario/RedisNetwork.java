package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.Proxy;
import io.github.distributedpermit.harness.fleet.Proxy.Way;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.Ending;
import io.github.distributedpermit.harness.member.Orders;
import io.github.distributedpermit.harness.scenario.Stage.Target;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The rows of the network between members and one Redis server. */
final class RedisNetwork {

    /** Time for the claim to be sent and to be found overdue, by what an answer takes on this machine. */
    private static final double USUAL_FACTOR = 16;

    private static final double USUAL_LEAST = 10_000_000;

    private static final int LONG = 20;

    /** The connection is made anew, and a failing store is asked again within a second and a bit. */
    private static final Duration RECONNECTED = Duration.ofMillis(2_500);

    private static final Duration SHORT = Setup.SHORT;

    /** Its last claim may come a lease after the last answer, and lasts for a lease; then there is the re-check. */
    private static final Duration TWO_LEASES = SHORT.multipliedBy(2).plusMillis(1_400);

    private static final int SLOW = 3;

    private static final Orders NEW_KEYS = new Orders(0, 6, 1_000_000, 0, 20_000, 300, 10, 0);

    private RedisNetwork() {}

    static List<Scenario<RedisStore>> all() {
        return List.of(
                row(
                        "redis-lost-answers",
                        "answers are lost for 0.05 to 1.2 s, then connections are reset, so that the client sends again",
                        "no double effect; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED).withLongHolds(),
                        (stage, store) -> NetworkFaults.loseAnswers(stage, store.network())),
                row(
                        "redis-reset",
                        "all connections are reset while calls wait",
                        "no double effect; the lease is an hour",
                        Setup.ordinary(Setup.HOUR, RECONNECTED),
                        (stage, store) -> NetworkFaults.reset(stage, store.network())),
                row(
                        "redis-slow",
                        "everything takes 50 to 200 ms longer in each direction, for 20 grants",
                        "slower; the lease is an hour",
                        // a claim takes up to 0.4 s, and those of the other keys go first: some are given up at 0.6 s
                        Setup.ordinary(Setup.HOUR, RECONNECTED.plusSeconds(2)),
                        (stage, store) -> NetworkFaults.delay(stage, store.network())),
                row(
                        "redis-black-hole",
                        "nothing arrives one way or both ways for 0.2 to 2 leases; then late, or never",
                        "held or lost, never both",
                        Setup.ordinary(SHORT, RECONNECTED).withLongHolds(),
                        (stage, store) -> NetworkFaults.blackHole(
                                stage, store.network(), SHORT.dividedBy(5), SHORT.multipliedBy(2))),
                row(
                        "redis-silent-new-keys",
                        "silence for 1.5 to 3 s, while calls ask for keys never used before and wait for less than the command time-out",
                        "`PermitBackendException`, not \"limit reached\", once a claim of the instance was unanswered for the command time-out",
                        Setup.ordinary(SHORT, RECONNECTED).withOrders(NEW_KEYS),
                        RedisNetwork::silence),
                new Scenario<>(
                        "redis-deaf-member",
                        "Redis",
                        "the answers to one member are lost for 12 leases, its requests arrive; others wait",
                        "others get its permits within two leases",
                        SLOW,
                        Setup.ordinary(SHORT, TWO_LEASES),
                        RedisStore::startBehindProxies,
                        RedisNetwork::loseAnswersOfOne));
    }

    /**
     * What is asked for while nothing is answered must not be refused, as soon as a claim of the same member was without an answer
     * for the command time-out: until then the member cannot know that the store is silent. On a machine that is stalled all
     * answers take long.
     */
    private static boolean silence(Stage stage, RedisStore store) throws Exception {
        Duration time = stage.between(
                SHORT.multipliedBy(3).dividedBy(4), SHORT.multipliedBy(3).dividedBy(2));
        stage.aim(Call::isWaiting);
        int first = stage.log().size();
        long[] silent = {0, 0};
        stage.outage(() -> {
            store.network().hold(EnumSet.allOf(Way.class));
            silent[0] = System.nanoTime();
            Stage.during(time);
            silent[1] = System.nanoTime();
            store.network().pass();
        });
        List<Call> within = stage.log().calls(first).stream()
                .filter(call -> call.asked() > silent[0] && call.ended() != 0 && call.ended() < silent[1])
                .toList();
        double usual = stage.log().calls(0).stream()
                .filter(call -> call.wasGranted() && call.entered() < silent[0])
                .mapToLong(call -> call.entered() - call.asked())
                .average()
                .orElse(0);
        double known = Setup.COMMAND_TIMEOUT.toNanos() + USUAL_LEAST + USUAL_FACTOR * usual;
        Map<Integer, Long> firstClaim = within.stream().collect(Collectors.toMap(Call::member, Call::asked, Math::min));
        within.stream()
                .filter(call -> call.ended() - firstClaim.getOrDefault(call.member(), call.asked()) > known)
                .filter(call -> call.ending() == Ending.TIMED_OUT || call.ending() == Ending.REFUSED)
                .findFirst()
                .ifPresent(call ->
                        stage.expect(false, "the store was known to be silent, and a call was refused: " + call));
        return within.stream().anyMatch(call -> call.ending() != Ending.RETURNED);
    }

    private static boolean loseAnswersOfOne(Stage stage, RedisStore store) throws Exception {
        Target target = stage.aim(Call::isInside);
        Proxy network = store.network(target.member().number());
        long from = System.nanoTime();
        network.swallow(EnumSet.of(Way.TO_MEMBERS));
        boolean hit = stage.isStill(target, Call::isInside);
        Stage.during(SHORT.multipliedBy(12));
        network.reset();
        network.pass();
        // the checker asks nothing of a member without answers; what the others get is what counts
        stage.circumstances().paused(target.member().number(), new Span(from, System.nanoTime()));
        return hit;
    }

    private static Scenario<RedisStore> row(
            String name, String fault, String expected, Setup setup, Scenario.Blow<RedisStore> blow) {
        return new Scenario<>(name, "Redis", fault, expected, LONG, setup, RedisStore::startBehindProxy, blow);
    }
}
