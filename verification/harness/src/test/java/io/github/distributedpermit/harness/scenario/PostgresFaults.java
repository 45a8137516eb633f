package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.fleet.PostgresPairStore;
import io.github.distributedpermit.harness.fleet.PostgresStore;
import io.github.distributedpermit.harness.history.Call;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;

/** What can be done to a database. */
final class PostgresFaults {

    /** All connections of members. */
    private static final String BACKENDS =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

    private static final Duration SOME_TIME = Duration.ofMillis(500);

    private PostgresFaults() {}

    /** The next blow comes when the session of the killed process has ended: till then a permit may go to the next to be killed. */
    static boolean killHolder(Stage stage, PostgresStore store) throws Exception {
        boolean hit = ProcessFaults.killHolder(stage, store);
        Stage.during(stage.setup().lease().plus(SOME_TIME));
        return hit;
    }

    /** Likewise. */
    static boolean killWaiter(Stage stage, PostgresStore store) throws Exception {
        boolean hit = ProcessFaults.killWaiter(stage, store);
        Stage.during(stage.setup().lease().plus(SOME_TIME));
        return hit;
    }

    /** {@code kill -9} of the server while calls hold, and a start with what it had. */
    static boolean restart(Stage stage, PostgresStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.kill();
            hit[0] = stage.someone(Call::isInside);
            store.restart();
        });
        return hit[0];
    }

    /**
     * {@code kill -9} of the server while calls hold, and its standby is promoted, which lacks the changes of the last 0.1 s to
     * two leases.
     */
    static boolean failOver(Stage stage, PostgresPairStore store) throws Exception {
        store.cutOff();
        Stage.during(stage.between(SOME_TIME.dividedBy(5), stage.setup().lease().multipliedBy(2)));
        stage.aim(Call::isInside);
        boolean[] hit = {store.standbyLacksChanges()};
        stage.outage(() -> {
            store.kill();
            hit[0] &= stage.someone(Call::isInside);
            store.promote();
        });
        stage.serves();
        store.addStandby();
        return hit[0];
    }

    /** {@code SIGTERM} of the server while calls hold; half a second later it ends all connections, stops and starts again. */
    static boolean terminate(Stage stage, PostgresStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.terminate();
            hit[0] = stage.someone(Call::isInside);
            Stage.during(SOME_TIME);
            store.restart();
        });
        return hit[0];
    }

    /** The server ends the connections of all members while calls wait. */
    static boolean killConnections(Stage stage, PostgresStore store) throws Exception {
        stage.aim(Call::isWaiting);
        return !store.ask(BACKENDS).isEmpty();
    }

    /** {@code kill -9} of the process of one connection: the server ends all others and recovers. */
    static boolean killBackend(Stage stage, PostgresStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.killBackend();
            hit[0] = stage.someone(Call::isInside);
            store.awaitAnswer();
        });
        return hit[0];
    }

    /** The server stands still for less than the lease while calls hold. */
    static boolean stopShort(Stage stage, PostgresStore store) throws Exception {
        Duration lease = stage.setup().lease();
        return stop(
                stage,
                store,
                stage.between(lease.dividedBy(5), lease.multipliedBy(4).dividedBy(5)));
    }

    /** The server stands still for longer than the lease while calls hold. */
    static boolean stopLong(Stage stage, PostgresStore store) throws Exception {
        Duration lease = stage.setup().lease();
        return stop(stage, store, stage.between(lease.multipliedBy(6).dividedBy(5), lease.multipliedBy(2)));
    }

    private static boolean stop(Stage stage, PostgresStore store, Duration time) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.freeze();
            hit[0] = stage.someone(Call::isInside);
            try {
                Stage.during(time);
            } finally {
                store.thaw();
            }
        });
        return hit[0];
    }

    /** Another transaction locks the rows of all keys for a while: sessions are renewed, claims wait or fail. */
    static boolean lockRows(Stage stage, PostgresStore store) throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        Duration time =
                stage.between(Duration.ofMillis(200), stage.setup().lease().multipliedBy(2));
        try (Connection connection = store.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            stage.outage(() -> {
                statement.execute("SELECT name FROM distributed_permit_key ORDER BY name FOR UPDATE");
                hit[0] = stage.someone(Call::isInside);
                Stage.during(time);
                connection.rollback();
            });
        }
        return hit[0];
    }
}
