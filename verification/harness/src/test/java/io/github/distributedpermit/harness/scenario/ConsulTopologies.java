package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.consulserver.ConsulProbe.Key;
import io.github.distributedpermit.consulserver.ConsulProbe.Session;
import io.github.distributedpermit.consulserver.ConsulServer;
import io.github.distributedpermit.harness.fleet.ConsulClusterStore;
import io.github.distributedpermit.harness.fleet.ConsulNetworkStore;
import io.github.distributedpermit.harness.fleet.ConsulStore;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** The rows of Consul's servers, its agents, and the network between agent and members. */
final class ConsulTopologies {

    private static final int LONG = 20;
    private static final int SLOW = 5;

    /** For claims and blocking queries to succeed again: pauses between attempts grow to seconds. */
    private static final Duration BACK = Duration.ofSeconds(8);

    private static final Setup SETUP =
            Setup.ordinary(Setup.HOUR, BACK).withOrders(new Orders(0, 3, 2, 10_000, 3_000_000, 5_000, 10, 0));

    /** Keys that a member uses at once, so that it has many connections, most of which are idle afterwards. */
    private static final int BURST = 48;

    /** One command time-out, a new connection, and the re-check. */
    private static final Setup MANY_CONNECTIONS = Setup.ordinary(Setup.HOUR, Duration.ofSeconds(4))
            .withOrders(new Orders(0, 2, 1, 50_000, 200_000, 5_000, 0, 0));

    private ConsulTopologies() {}

    static List<Scenario<?>> all() {
        return List.of(
                row(
                        "consul-restart",
                        "the one server is killed and comes back with its data",
                        "sessions live on, holders hold",
                        LONG,
                        ConsulStore::startOnDisk,
                        ConsulTopologies::restart),
                row(
                        "consul-restart-long-log",
                        "likewise, with a log of 100 MB that it reads again",
                        "sessions live on, no permit is lost",
                        SLOW,
                        ConsulStore::startWithLongLog,
                        ConsulTopologies::restartWithoutLoss),
                row(
                        "consul-idle-connections",
                        "a member uses 48 keys at once, then all connections become silent, as when a firewall forgets them; new ones work",
                        "no session and no permit is lost",
                        LONG / 2,
                        MANY_CONNECTIONS,
                        ConsulNetworkStore::startBehindProxy,
                        ConsulTopologies::forgetConnections),
                row(
                        "consul-agent-killed",
                        "the agent that members use, which is no server, is killed and comes back after 1 to 6 s",
                        "sessions live on (no node checks); held or lost, never both",
                        LONG,
                        ConsulStore::startAgent,
                        ConsulTopologies::killAgent),
                row(
                        "consul-leader-killed",
                        "the leader of three servers is killed, and comes back",
                        "another leads in seconds; held or lost, never both",
                        LONG,
                        ConsulClusterStore::startCluster,
                        ConsulTopologies::killLeader),
                row(
                        "consul-quorum-lost",
                        "two of three servers are killed and come back after 1 to 12 s",
                        "waits end at their time-out; held or lost, never both",
                        SLOW,
                        ConsulClusterStore::startCluster,
                        ConsulTopologies::loseQuorum),
                row(
                        "consul-black-hole",
                        "nothing arrives one way or both ways for 1 to 12 s (TTL 10 s); then late, or never",
                        "held or lost, never both",
                        SLOW,
                        ConsulNetworkStore::startBehindProxy,
                        (stage, store) -> NetworkFaults.blackHole(
                                stage, store.network(), Duration.ofSeconds(1), ConsulStore.TTL.plusSeconds(2))));
    }

    private static <S extends Store> Scenario<S> row(
            String name, String fault, String expected, int hits, Scenario.Opening<S> opening, Scenario.Blow<S> blow) {
        return row(name, fault, expected, hits, SETUP, opening, blow);
    }

    private static <S extends Store> Scenario<S> row(
            String name,
            String fault,
            String expected,
            int hits,
            Setup setup,
            Scenario.Opening<S> opening,
            Scenario.Blow<S> blow) {
        return new Scenario<>(name, "Consul", fault, expected, hits, setup, opening, blow);
    }

    private static boolean restartWithoutLoss(Stage stage, ConsulStore store) throws Exception {
        int first = stage.log().size();
        boolean hit = restart(stage, store);
        expectNoLoss(stage, first);
        return hit;
    }

    private static boolean forgetConnections(Stage stage, ConsulNetworkStore store) throws Exception {
        for (MemberProcess member : stage.crew().loaded()) {
            member.ask("burst " + BURST);
        }
        stage.aim(Call::isInside);
        List<String> before = sessions(store);
        int first = stage.log().size();
        boolean hit = store.network().forget() > 0;
        stage.awaitFlow(Stage.LONG_PATIENCE);
        Stage.during(ConsulStore.TTL.dividedBy(2)); // the session is renewed meanwhile
        expectNoLoss(stage, first);
        List<String> after =
                store.operator().sessions().stream().map(Session::id).toList();
        stage.expect(after.containsAll(before), "sessions were " + before + " and are " + after);
        return hit;
    }

    private static void expectNoLoss(Stage stage, int first) {
        stage.log().calls(first).stream()
                .filter(call -> call.lost() != 0)
                .findFirst()
                .ifPresent(call -> stage.expect(false, "a permit was lost: " + call));
    }

    private static boolean restart(Stage stage, ConsulStore store) throws Exception {
        return away(stage, store, Duration.ZERO);
    }

    private static boolean killAgent(Stage stage, ConsulStore store) throws Exception {
        return away(stage, store, stage.between(Duration.ofSeconds(1), Duration.ofSeconds(6)));
    }

    private static boolean away(Stage stage, ConsulStore store, Duration time) throws Exception {
        stage.aim(Call::isInside);
        List<String> before = sessions(store);
        boolean[] hit = {false};
        stage.outage(() -> {
            store.server().kill();
            hit[0] = stage.someone(Call::isInside);
            Stage.during(time);
            store.server().run();
        });
        List<String> after =
                store.operator().sessions().stream().map(Session::id).toList();
        stage.expect(after.containsAll(before), "sessions were " + before + " and are " + after);
        return hit[0];
    }

    /** Those that members use: one may be left over for which a member did not hear that it was made. */
    private static List<String> sessions(ConsulStore store) {
        return store.operator().keys(ConsulStore.ROOT).stream()
                .map(Key::session)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    private static boolean killLeader(Stage stage, ConsulClusterStore store) throws Exception {
        return kill(stage, store, List.of(store.cluster().leader()), Duration.ZERO);
    }

    private static boolean loseQuorum(Stage stage, ConsulClusterStore store) throws Exception {
        List<ConsulServer> servers = new ArrayList<>(store.cluster().servers());
        Collections.shuffle(servers, stage.random());
        return kill(stage, store, servers.subList(0, 2), stage.between(Duration.ofSeconds(1), Duration.ofSeconds(12)));
    }

    /** They come back when others have taken over, or if there are too few, after that time. */
    private static boolean kill(Stage stage, ConsulClusterStore store, List<ConsulServer> some, Duration time)
            throws Exception {
        stage.aim(Call::isInside);
        boolean[] hit = {false};
        stage.outage(() -> {
            some.forEach(ConsulServer::kill);
            hit[0] = stage.someone(Call::isInside);
            if (some.size() == 1) {
                stage.await("another leader", store::takesWrites);
            } else {
                Stage.during(time);
                some.forEach(ConsulServer::launch);
                stage.await("a quorum", store::takesWrites);
            }
        });
        if (some.size() == 1) {
            some.forEach(ConsulServer::launch);
        }
        some.forEach(ConsulServer::awaitLeader);
        return hit[0];
    }
}
