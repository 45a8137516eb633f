package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.KillArgs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Faults of the server and of connections. Each test starts its own server. */
class RedisFaultTest extends RedisTest {

    @Test
    void joinsWhileTheServerIsDownAndWorksOnceItIsUp() {
        RedisServer server = open(RedisServer.create());
        long start = System.nanoTime();
        TestMember a = member(factory(server));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));

        PermitStoreException down = a.failure(a.next(key(), 1, 1, 1, true));
        assertThat(down.isPermanent()).isFalse();
        assertThat(down).hasMessageContaining("can't be reached");

        server.start();
        awaitWorking(a);
    }

    @Test
    void claimsFailAtOnceWhileTheConnectionIsDown() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        server.stop();
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(a.failure(a.next(key(), 1, 1, 1, true))).hasMessageContaining("can't be reached"));

        server.start();
        awaitWorking(a);
    }

    @Test
    void memberReceivesItsGrantsAfterTheServerWasRestarted() {
        RedisServer server = open(RedisServer.started());
        TestMember a = memberWithoutGrace(factory(server));
        TestMember b = memberWithoutGrace(factory(server));
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        server.stop();
        server.start();
        awaitWorking(a);
        awaitWorking(b);
        awaitSubscribed(eye(server), b);

        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        a.keep(key(), 0);

        b.awaitGrant(key(), 1);
    }

    @Test
    void healsWhenItsConnectionsAreKilled() {
        RedisServer server = open(RedisServer.started());
        LettuceConnectionFactory factory = factory(server);
        TestMember a = member(factory);
        TestMember b = member(factory);
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        RedisEye eye = eye(server);

        assertThat(eye.commands().clientKill(KillArgs.Builder.typeNormal().skipme()))
                .isPositive();
        awaitWorking(a);
        awaitWorking(b);
        assertThat(eye.commands().clientKill(KillArgs.Builder.typePubsub())).isEqualTo(2);
        awaitSubscribed(eye, b);

        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
    }

    /** After a fail-over a connection may lead to the former master, which keeps it open. */
    @Test
    void connectionToAReplicaIsLeftSoThatTheMasterCanBeFound() {
        RedisServer server = open(RedisServer.started());
        RedisServer master = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        Set<String> before = await().atMost(PATIENCE).until(() -> claimingClients(eye), clients -> clients.size() == 1);

        eye.commands().replicaof("127.0.0.1", master.port());

        assertThat(a.failure(a.next(key(), 1, 1, 1, true))).hasMessageContaining("READONLY");
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(clients(eye)).doesNotContainAnyElementsOf(before));
        eye.commands().replicaofNoOne();
        awaitWorking(a);
    }

    /** All that subscribe to nothing, but for the eye itself. */
    private static Set<String> claimingClients(RedisEye eye) {
        Set<String> clients = ids(eye, " sub=0 ");
        clients.remove("id=" + eye.commands().clientId());
        return clients;
    }

    static Set<String> clients(RedisEye eye) {
        return ids(eye, " ");
    }

    static Set<String> ids(RedisEye eye, String with) {
        return eye.commands()
                .clientList()
                .lines()
                .filter(line -> line.contains(with))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .collect(Collectors.toSet());
    }

    @Test
    void subscriptionThatReceivesNothingIsReplaced() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        eye.acl("SETUSER", "default", "resetchannels");
        eye.commands().clientKill(KillArgs.Builder.typePubsub());
        await().atMost(PATIENCE).until(() -> subscribers(eye, a) + subscribers(eye, b) == 0);
        eye.acl("SETUSER", "default", "allchannels");
        awaitSubscribed(eye, a);
        awaitSubscribed(eye, b);

        b.queue(key(), 1, 1);
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
    }

    @Test
    void memberHasOneSubscriptionForAllKeysAndNoneWhenItHasLeft() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        for (int i = 0; i < 100; i++) {
            a.queue(key() + i, 1, 1);
        }
        RedisEye eye = eye(server);
        assertThat(eye.commands().pubsubChannels()).containsExactly("permits:member:" + a.id());
        // claims, subscription, this one; the one that has started the server may end a moment later
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(eye.info("clients", "connected_clients")).isEqualTo(3));

        long start = System.nanoTime();
        a.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));

        await().atMost(PATIENCE).until(() -> eye.commands().pubsubChannels().isEmpty());
        await().atMost(PATIENCE)
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().contains(a.id())));
        assertThat(a.failure(a.next(key(), 1, 1, 1, true))).hasMessageContaining("left");
    }

    @Test
    void closingLeavesTheSharedConnectionToTheApplication() {
        RedisServer server = open(RedisServer.started());
        LettuceConnectionFactory factory = factory(server);
        TestMember a = member(factory);
        a.queue(key(), 1, 1);
        a.close();

        assertThat(factory.getConnection().ping()).isEqualTo("PONG");
        assertThat(member(factory).attempt(key(), 2, 1).permits()).isEqualTo(1);
    }

    @Test
    void wrongPasswordIsPermanentAndNotInTheMessage() {
        RedisServer server = open(RedisServer.startedWithPassword("correct-canary"));
        TestMember a = member(opened(server.connectionFactory("wrong-canary")));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining("password").hasMessageNotContaining("canary");
        for (Throwable cause = refused.getCause(); cause != null; cause = cause.getCause()) {
            assertThat(cause).hasMessageNotContaining("canary");
        }
    }

    @Test
    void missingPasswordIsPermanent() {
        RedisServer server = open(RedisServer.startedWithPassword("canary"));
        TestMember a = member(opened(server.connectionFactory(null)));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining("password").hasMessageNotContaining("canary");
    }

    @Test
    void missingRightIsPermanent() {
        RedisServer server = open(RedisServer.started());
        eye(server).acl("SETUSER", "default", "-hset");
        TestMember a = member(factory(server));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining("right");
    }

    @Test
    void returnsAndRenewalsWorkWithoutMemoryAndNewGrantsAreRefused() {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", "noeviction"));
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        TestMember c = member(factory(server));
        a.queue(key(), 3, 2);
        b.queue(key(), 3, 2);
        a.queue("second", 1, 1);
        RedisEye eye = eye(server);
        eye.commands().configSet("maxmemory", "1");

        assertThat(a.keep("second", 1).permits()).isEqualTo(1);
        assertThat(a.keep("second", 0).permits()).isZero();
        PermitStoreException refused = c.failure(c.next(key(), 9, 1, 1, true));
        assertThat(refused.isPermanent()).isFalse();
        assertThat(refused).hasMessageContaining("OOM");
        assertThat(c.failure(c.next("third", 1, 1, 1, false))).hasMessageContaining("OOM");
        assertThat(c.failure(c.next("second", 1, 1, 1, true))).hasMessageContaining("OOM");
        assertThat(a.keep(key(), 2).permits()).isEqualTo(2);
        assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
        b.awaitGrant(key(), 2);
        assertThat(TestMember.answer(a.store().inspect(key())).used()).isEqualTo(3);

        eye.commands().configSet("maxmemory", "0");
        assertThat(c.attempt(key(), 4, 1).permits()).isEqualTo(1);
    }

    @Test
    void replicaIsAPassingFailure() {
        RedisServer server = open(RedisServer.started());
        TestMember a = memberWithoutGrace(factory(server));
        a.queue(key(), 2, 1);
        RedisEye eye = eye(server);
        eye.commands().replicaof("127.0.0.1", 1);
        eye.commands().configSet("replica-serve-stale-data", "yes");

        PermitStoreException refused = a.failure(a.next(key(), 2, 1, 1, true));

        assertThat(refused.isPermanent()).isFalse();
        assertThat(refused).hasMessageContaining("READONLY");
        eye.commands().configSet("replica-serve-stale-data", "no");
        // the connection to a replica is closed, so for a moment there is none
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(a.failure(a.next(key(), 2, 1, 1, true))).hasMessageContaining("MASTERDOWN"));
        eye.commands().replicaofNoOne();
        await().atMost(PATIENCE)
                .ignoreException(PermitStoreException.class)
                .until(() -> a.keep(key(), 1).permits() == 1);
    }

    @Test
    void tooFewReplicasIsAPassingFailure() {
        RedisServer server = open(RedisServer.started("--min-replicas-to-write", "1"));
        TestMember a = member(factory(server));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isFalse();
        assertThat(refused).hasMessageContaining("NOREPLICAS");
    }

    static void awaitWorking(TestMember member) {
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> member.attempt("probe-" + member.id(), 1, 0).permits() == 0);
    }

    static void awaitSubscribed(RedisEye eye, TestMember member) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(subscribers(eye, member))
                        .as("subscribers among %s", eye.commands().clientList())
                        .isEqualTo(1));
    }

    private static long subscribers(RedisEye eye, TestMember member) {
        String channel = new String(RedisKeys.channel("permits", member.id()), StandardCharsets.UTF_8);
        return eye.commands().pubsubNumsub(channel).values().iterator().next();
    }
}
