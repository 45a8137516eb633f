package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.consulserver.ConsulProbe.Key;
import io.github.distributedpermit.consulserver.ConsulProbe.Session;
import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.ConsulStore;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.Ending;
import io.github.distributedpermit.harness.member.MemberMain;
import io.github.distributedpermit.harness.scenario.Stage.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What can be done to one Consul agent, or by an operator. */
final class ConsulFaults {

    /** How long after an operator's action a holder may not have been notified. */
    private static final Duration HEARD = Duration.ofSeconds(1);

    private static final String FOREIGN = "not a semaphore";

    private static final long FRESH = TimeUnit.SECONDS.toNanos(1);

    private ConsulFaults() {}

    /** The next blow comes when the dead session has ended: till then a permit may go from one dead process to another. */
    static boolean killHolder(Stage stage, ConsulStore store) throws Exception {
        return untilSessionEnds(stage, store, ProcessFaults::killHolder);
    }

    /** Likewise. */
    static boolean killWaiter(Stage stage, ConsulStore store) throws Exception {
        return untilSessionEnds(stage, store, ProcessFaults::killWaiter);
    }

    private static boolean untilSessionEnds(Stage stage, ConsulStore store, Scenario.Blow<Store> blow)
            throws Exception {
        List<String> before = sessions(store);
        boolean hit = blow.strike(stage, store);
        stage.await("Consul to end the session", () -> !sessions(store).containsAll(before));
        return hit;
    }

    /** {@code SIGSTOP} of a process that holds until Consul has ended its session, and longer. */
    static boolean stopHolder(Stage stage, ConsulStore store) throws Exception {
        List<String> before = sessions(store);
        Target target = stage.aim(Call::isInside);
        long from = System.nanoTime();
        target.member().stop();
        boolean hit = stage.isStill(target, Call::isInside);
        try {
            stage.await("Consul to end the session", () -> !sessions(store).containsAll(before));
            stage.awaitOthers(target.member());
        } finally {
            target.member().resume();
        }
        stage.circumstances().paused(target.member().number(), new Span(from, System.nanoTime()));
        stage.crew().remember(target.member());
        return hit;
    }

    private static List<String> sessions(ConsulStore store) {
        return store.operator().sessions().stream().map(Session::id).toList();
    }

    static boolean destroySession(Stage stage, ConsulStore store) throws Exception {
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

    static boolean deleteTree(Stage stage, ConsulStore store) throws Exception {
        stage.aim(Call::isInside);
        long from = System.nanoTime();
        store.operator().deleteTree(ConsulStore.ROOT);
        boolean hit = stage.someone(Call::isInside);
        excuse(stage, from, HEARD);
        return hit;
    }

    /**
     * An operator deletes one key, and not the inboxes of its holders. A named exception, until they have noticed; what
     * calls hold is held for longer.
     */
    static boolean deleteKey(Stage stage, ConsulStore store) throws Exception {
        Target target = stage.aim(call -> call.isInside() && System.nanoTime() - call.entered() < FRESH);
        String path = ConsulStore.ROOT + MemberMain.NAME + "-" + target.call().key() + "/";
        long from = System.nanoTime();
        store.operator().deleteTree(path);
        boolean hit = stage.isStill(target, Call::isInside);
        Stage.during(ConsulStore.TTL);
        excuse(stage, from, Duration.ZERO);
        return hit;
    }

    /** A foreign document is at the key of the semaphore's document. */
    static boolean damageLock(Stage stage, ConsulStore store) throws Exception {
        Target target = stage.aim(Call::isInside);
        int key = target.call().key();
        String name = ConsulStore.ROOT + MemberMain.NAME + "-" + key + "/.lock";
        int from = stage.log().size();
        Duration time = stage.between(Duration.ofMillis(500), Duration.ofSeconds(2));
        stage.outage(() -> {
            Optional<Key> before = overwritten(store, name);
            if (before.isPresent()) {
                Stage.during(time);
                String after = lock(store, name).map(Key::value).orElse("nothing");
                stage.expect(after.equals(FOREIGN), "what is not ours was overwritten: " + after);
                store.operator()
                        .put(
                                "kv/" + name + "?flags=" + before.get().flags(),
                                before.get().value());
            }
        });
        stage.awaitFlow();
        return stage.log().calls(from).stream().anyMatch(call -> call.key() == key && call.ending() == Ending.FAILED);
    }

    /** What was there the moment before, if anything was. */
    private static Optional<Key> overwritten(ConsulStore store, String name) {
        Optional<Key> before = lock(store, name);
        while (before.isPresent() && !overwritten(store, before.get())) {
            before = lock(store, name);
        }
        return before;
    }

    private static boolean overwritten(ConsulStore store, Key key) {
        String path = "kv/" + key.name() + "?cas=" + key.modified();
        return store.operator().answer(path, FOREIGN).body().contains("true");
    }

    private static Optional<Key> lock(ConsulStore store, String name) {
        return store.operator().keys(name).stream().findFirst();
    }

    static boolean restartEmpty(Stage stage, ConsulStore store) throws Exception {
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
