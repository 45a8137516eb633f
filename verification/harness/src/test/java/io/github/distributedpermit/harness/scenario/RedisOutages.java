package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.fleet.Signals;
import io.github.distributedpermit.harness.history.Call;
import java.time.Duration;
import java.util.List;

/** The rows of one Redis server that is away for long, or that is there and says nothing of use. */
final class RedisOutages {

    private static final int LONG = 20;
    private static final int SLOW = 3;

    private static final Duration OUTAGE = Duration.ofSeconds(40);
    private static final Duration FIRST_CALL = Duration.ofSeconds(3);
    private static final Duration BACK = Duration.ofMillis(3_500);

    /** Two or three command time-outs until the connection is given up, and a new one. */
    private static final Duration GIVEN_UP = Duration.ofSeconds(4);

    private static final Setup SETUP =
            Setup.ordinary(Setup.SHORT, BACK).withFirstCall(FIRST_CALL).withoutGrace();

    private RedisOutages() {}

    static List<Scenario<RedisStore>> all() {
        return List.of(
                new Scenario<>(
                        "redis-outage",
                        "Redis",
                        "`kill -9` of Redis, started again empty after 40 s in which connections are refused",
                        "served within three seconds of its first answer",
                        SLOW,
                        SETUP,
                        RedisStore::start,
                        RedisOutages::killed),
                new Scenario<>(
                        "redis-silent-outage",
                        "Redis",
                        "all packets are dropped for 40 s, also those that connect; or Redis stands still for 40 s",
                        "served within three seconds of the end",
                        SLOW,
                        SETUP,
                        RedisStore::startBehindProxy,
                        new Silent()::strike),
                new Scenario<>(
                        "redis-no-replicas",
                        "Redis",
                        "`NOREPLICAS` for 4 to 8 s",
                        "served within three seconds of the end",
                        LONG / 2,
                        SETUP,
                        RedisStore::start,
                        RedisOutages::noReplicas),
                new Scenario<>(
                        "redis-cut-reply",
                        "Redis",
                        "an answer is cut in the middle, and its connection stays open and silent",
                        "that member has a new connection within four seconds",
                        LONG,
                        Setup.ordinary(Setup.SHORT, GIVEN_UP).withFirstCall(GIVEN_UP),
                        RedisStore::startBehindProxy,
                        RedisOutages::cutReply));
    }

    private static boolean killed(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.server().stop();
            hit[0] = stage.someone(Call::isInside) || stage.someone(Call::isWaiting);
            Stage.during(OUTAGE);
            store.server().start();
        });
        stage.serves();
        return hit[0];
    }

    private static boolean noReplicas(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        Duration time = stage.between(Setup.SHORT.multipliedBy(2), Setup.SHORT.multipliedBy(4));
        stage.outage(() -> {
            store.ask(commands -> commands.configSet("min-replicas-to-write", "1"));
            hit[0] = stage.someone(Call::isInside) || stage.someone(Call::isWaiting);
            Stage.during(time);
            store.ask(commands -> commands.configSet("min-replicas-to-write", "0"));
        });
        stage.serves();
        return hit[0];
    }

    private static boolean cutReply(Stage stage, RedisStore store) throws Exception {
        stage.aim(Call::isWaiting);
        int before = store.network().cut();
        store.network().cutReply();
        stage.await("an answer to cut", () -> store.network().cut() > before);
        stage.serves();
        return true;
    }

    /** Each blow in the other way. */
    private static final class Silent {

        private int next;

        boolean strike(Stage stage, RedisStore store) throws Exception {
            boolean dropped = next++ % 2 == 0;
            stage.aim(Call::isInside);
            boolean[] hit = {false};
            long pid = store.server().pid();
            stage.outage(() -> {
                if (dropped) {
                    store.network().vanish();
                } else {
                    Signals.stop(pid);
                }
                hit[0] = stage.someone(Call::isInside) || stage.someone(Call::isWaiting);
                try {
                    Stage.during(OUTAGE);
                } finally {
                    if (dropped) {
                        store.network().heal();
                    } else {
                        Signals.resume(pid);
                    }
                }
            });
            stage.serves();
            return hit[0];
        }
    }
}
