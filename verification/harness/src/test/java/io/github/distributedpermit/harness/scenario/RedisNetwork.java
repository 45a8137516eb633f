package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.RedisStore;
import java.time.Duration;
import java.util.List;

/** The rows of the network between members and one Redis server. */
final class RedisNetwork {

    private static final int LONG = 20;

    /** The connection is made anew, and a failing store is asked again within a second and a bit. */
    private static final Duration RECONNECTED = Duration.ofMillis(2_500);

    private static final Duration SHORT = Setup.SHORT;

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
                                stage, store.network(), SHORT.dividedBy(5), SHORT.multipliedBy(2))));
    }

    private static Scenario<RedisStore> row(
            String name, String fault, String expected, Setup setup, Scenario.Blow<RedisStore> blow) {
        return new Scenario<>(name, "Redis", fault, expected, LONG, setup, RedisStore::startBehindProxy, blow);
    }
}
