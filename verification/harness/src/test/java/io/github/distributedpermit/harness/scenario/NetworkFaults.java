package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.Proxy;
import io.github.distributedpermit.harness.fleet.Proxy.Way;
import io.github.distributedpermit.harness.history.Call;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What can happen between members and their server, whatever it is. */
final class NetworkFaults {

    private static final Duration MOMENT = Duration.ofMillis(50);

    private static final List<Set<Way>> DIRECTIONS =
            List.of(EnumSet.of(Way.TO_MEMBERS), EnumSet.of(Way.TO_SERVER), EnumSet.allOf(Way.class));

    private NetworkFaults() {}

    /**
     * Nothing arrives in one direction or in both while calls hold; afterwards everything arrives late, or the connections
     * are reset and what was under way never arrives.
     */
    static boolean blackHole(Stage stage, Proxy network, Duration least, Duration most) throws Exception {
        Duration time = stage.between(least, most);
        Set<Way> ways = DIRECTIONS.get(stage.random().nextInt(DIRECTIONS.size()));
        boolean reset = stage.random().nextBoolean();
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            network.hold(ways);
            hit[0] = stage.someone(Call::isInside);
            Stage.during(time);
            if (reset) {
                network.reset();
            }
            network.pass();
        });
        return hit[0];
    }

    /** The server executes requests and their answers are lost; then connections are reset, so that clients send again. */
    static boolean loseAnswers(Stage stage, Proxy network) throws Exception {
        Duration time = stage.between(MOMENT, Setup.COMMAND_TIMEOUT.multipliedBy(2));
        stage.aim(Call::isWaiting);
        long before = network.swallowed();
        stage.outage(() -> {
            network.swallow(EnumSet.of(Way.TO_MEMBERS));
            Stage.during(time);
            network.reset();
            network.pass();
        });
        return network.swallowed() > before;
    }

    /** All connections are reset while calls wait. */
    static boolean reset(Stage stage, Proxy network) throws Exception {
        stage.aim(Call::isWaiting);
        return network.reset() > 0;
    }

    /** Everything takes a while for a while. */
    static boolean delay(Stage stage, Proxy network) throws Exception {
        stage.aim(Call::isWaiting);
        network.delay(stage.between(MOMENT, MOMENT.multipliedBy(4)));
        boolean hit = stage.awaitGrants(20);
        network.pass();
        return hit;
    }
}
