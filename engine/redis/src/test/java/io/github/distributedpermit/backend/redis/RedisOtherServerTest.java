package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.testsupport.Detour;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.KillArgs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A member whose subscription is on another server than its claims: a replica, or the former master. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisOtherServerTest extends RedisTest {

    /** The regular check would also repair the subscription, so in these tests it is not due. Servers differ in their data. */
    private static final RedisSettings UNWATCHED =
            new RedisSettings("permits", Duration.ofSeconds(30), Duration.ofHours(1), PATIENCE).withoutGrace();

    private final RedisServer master = RedisServer.started("--repl-diskless-sync-delay", "0");
    private final RedisServer replica = RedisServer.started(
            "--replicaof", "127.0.0.1", Integer.toString(master.port()), "--repl-diskless-sync-delay", "0");
    private final RedisServer other = RedisServer.started();

    @BeforeAll
    void awaitReplication() {
        await().atMost(PATIENCE)
                .until(() -> replica.ask(c -> c.info("replication")).contains("master_link_status:up"));
    }

    @BeforeEach
    void empty() {
        master.ask(commands -> commands.flushall());
        other.ask(commands -> commands.flushall());
    }

    @AfterAll
    void stop() {
        List.of(master, replica, other).forEach(RedisServer::close);
    }

    @Test
    void subscriberOfAReplicaReceivesOnlyGrantsThatStand() {
        Detour detour = open(new Detour(master.port()));
        TestMember a = member(factory(master));
        TestMember c = member(factory(master));
        TestMember d = member(factory(master));
        TestMember b = claimingHereAndSubscribedOn(replica, detour);
        RedisEye observer = eye(replica);
        String channel = channel(b);
        List<String> received = observer.messages(channel);
        a.queue(key(), 2, 1);
        c.queue(key(), 2, 1);
        assertThat(b.queue(key(), 2, 1).permits()).isZero();

        a.keep(key(), 0);

        assertThat(d.attempt(key(), 2, 1).permits())
                .as("b has been granted nothing")
                .isEqualTo(1);
        eye(master).commands().publish(channel, "end".getBytes(StandardCharsets.US_ASCII));
        await().atMost(PATIENCE).until(() -> received.contains("end"));
        assertThat(received).as("received from the replica").noneMatch(message -> message.startsWith("G"));
        assertThat(b.recorder().grants())
                .as("grants to b, which are not recorded")
                .isEmpty();
        assertThat(TestMember.answer(a.store().inspect(key())).members())
                .filteredOn(member -> member.permits() > 0)
                .extracting(member -> member.member())
                .containsExactlyInAnyOrder(c.id(), d.id());
    }

    @Test
    void subscriptionOnAReplicaIsLeftAtOnce() {
        Detour detour = open(new Detour(master.port()));
        TestMember b = claimingHereAndSubscribedOn(replica, detour);

        detour.to(master.port());

        assertServedByNotification(b, master);
    }

    @Test
    void subscriptionThatComesBackOnAReplicaIsLeftAtOnce() {
        Detour detour = open(new Detour(master.port()));
        TestMember b = open(new TestMember(factory(detour), UNWATCHED));
        RedisFaultTest.awaitSubscribed(eye(master), b);
        detour.to(replica.port());
        RedisMonitor monitor = open(new RedisMonitor(replica));
        eye(master).commands().clientKill(KillArgs.Builder.typePubsub());
        awaitSubscribing(monitor);

        detour.to(master.port());

        assertServedByNotification(b, master);
    }

    @Test
    void subscriptionFollowsTheClaimsToAnotherServer() {
        Detour detour = open(new Detour(master.port()));
        TestMember b = open(new TestMember(factory(detour), UNWATCHED));
        RedisFaultTest.awaitSubscribed(eye(master), b);
        RedisFaultTest.awaitWorking(b);

        detour.to(other.port());
        eye(master).commands().clientKill(KillArgs.Builder.typeNormal().skipme());

        assertServedByNotification(b, other);
        await().atMost(PATIENCE).until(() -> subscribers(master, b) == 0);
    }

    private TestMember claimingHereAndSubscribedOn(RedisServer server, Detour detour) {
        TestMember member = open(new TestMember(factory(detour), UNWATCHED));
        RedisFaultTest.awaitSubscribed(eye(master), member);
        detour.to(server.port());
        RedisMonitor monitor = open(new RedisMonitor(server));
        eye(master).commands().clientKill(KillArgs.Builder.typePubsub());
        awaitSubscribing(monitor);
        return member;
    }

    private LettuceConnectionFactory factory(Detour detour) {
        return opened(RedisServer.connectionFactory(detour.port()));
    }

    private void assertServedByNotification(TestMember b, RedisServer server) {
        RedisFaultTest.awaitSubscribed(eye(server), b);
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisFaultTest.awaitWorking(b);
        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
    }

    /** The member may close it again at once. */
    private static void awaitSubscribing(RedisMonitor monitor) {
        await().atMost(PATIENCE).until(() -> monitor.commands(false).contains("subscribe"));
    }

    private static long subscribers(RedisServer server, TestMember member) {
        return server.ask(c -> c.pubsubNumsub(channel(member)))
                .values()
                .iterator()
                .next();
    }

    private static String channel(TestMember member) {
        return new String(RedisKeys.channel("permits", member.id()), StandardCharsets.UTF_8);
    }
}
