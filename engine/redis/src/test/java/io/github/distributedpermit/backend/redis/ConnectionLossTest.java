package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.certificates.TestAuthority;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Connections that are lost or silent, servers that come back, and nodes that do not answer. */
class ConnectionLossTest extends RedisTest {

    /** Without an examination of silent connections a claim takes half a minute. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private final RedisServer server = open(RedisServer.started());

    @Test
    void silentConnectionIsReplacedWhileTheServerAnswersOthers() {
        SilentProxy proxy = open(new SilentProxy(server.port()));
        TestMember a = impatientMember(to(proxy.port()));
        RedisEye eye = eye(server);
        RedisFaultTest.awaitSubscribed(eye, a);
        Set<String> before = subscriptions(eye);
        TestMember b = impatientMember(factory(server));
        a.queue(key(), 1, 1);

        proxy.silenceConnections();

        awaitAnswer(a);
        b.queue("other", 1, 1);
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(subscriptions(eye)).hasSize(2).doesNotContainAnyElementsOf(before));
        RedisFaultTest.awaitSubscribed(eye, a);
        assertThat(a.queue("other", 1, 1).permits()).isZero();
        b.keep("other", 0);
        a.awaitGrant("other", 1); // the subscription was silent as well
    }

    @Test
    void answerCutInTheMiddleCostsOneConnection() {
        SilentProxy proxy = open(new SilentProxy(server.port()));
        TestMember a = impatientMember(to(proxy.port()));
        a.queue(key(), 1, 1);

        proxy.cutAnswersAfter(5);

        awaitAnswer(a);
    }

    private static Set<String> subscriptions(RedisEye eye) {
        return RedisFaultTest.ids(eye, " sub=1 ");
    }

    private void awaitAnswer(TestMember member) {
        await().atMost(SOON).ignoreExceptions().until(() -> {
            CompletableFuture<Holding> claim =
                    member.store().claim(member.next("probe", 1, 1, 1, true)).toCompletableFuture();
            return claim.get(SOON.toSeconds(), TimeUnit.SECONDS).permits() == 1;
        });
    }

    @Test
    void busyServerKeepsItsConnection() {
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        RedisFaultTest.awaitSubscribed(eye, a);
        Set<String> before = RedisFaultTest.clients(eye);

        for (int i = 0; i < 2; i++) {
            eye.commands().clientPause(1_500);
            assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
        }

        // a connection that was made to compare it may be closed a moment later
        await().untilAsserted(() -> assertThat(RedisFaultTest.clients(eye)).isEqualTo(before));
    }

    /** The pause of Lettuce doubles up to half a minute: after an outage of 18 s its next attempt follows 15 s later. */
    @Test
    void serverIsUsedSoonAfterItsReturn() {
        TestMember a = impatientMember(to(server.port()));
        a.queue(key(), 1, 1);
        server.stop();
        await().pollDelay(Duration.ofSeconds(18)).atMost(Duration.ofSeconds(30)).until(() -> true);

        server.start();

        await().atMost(Duration.ofSeconds(14)).ignoreExceptions().until(() -> {
            CompletableFuture<Holding> claim =
                    a.store().claim(a.next("probe", 1, 1, 1, true)).toCompletableFuture();
            return claim.get(5, TimeUnit.SECONDS).permits() == 1;
        });
        assertThat(a.recorder().reached()).isPositive();
    }

    @Test
    void staticNodesAreAskedForTheMaster() {
        RedisServer replica = open(RedisServer.started("--replicaof", "127.0.0.1", Integer.toString(server.port())));
        RedisStaticMasterReplicaConfiguration nodes =
                new RedisStaticMasterReplicaConfiguration("127.0.0.1", replica.port());
        nodes.addNode("127.0.0.1", server.port());
        LettuceConnectionFactory factory = opened(RedisServer.running(
                new LettuceConnectionFactory(nodes, LettuceClientConfiguration.defaultConfiguration())));
        TestMember a = impatientMember(factory);
        TestMember b = impatientMember(factory);

        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);

        // a fail-over by hand
        replica.ask(commands -> commands.replicaofNoOne());
        server.ask(commands -> commands.replicaof("127.0.0.1", replica.port()));
        awaitAnswer(a);
        RedisFaultTest.awaitSubscribed(eye(replica), a);
    }

    /** The node accepts connections, which its kernel does, and never answers the TLS handshake. */
    @Test
    void staticNodeThatHangsInTheTlsHandshakeKeepsNoOtherFromBeingTheMaster(@TempDir Path directory) throws Exception {
        ServerSocket hanging = open(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        TestAuthority authority = TestAuthority.in(directory);
        RedisServer master = open(RedisServer.startedWithTls(authority.issue("localhost")));
        RedisStaticMasterReplicaConfiguration nodes =
                new RedisStaticMasterReplicaConfiguration("127.0.0.1", hanging.getLocalPort());
        nodes.addNode("127.0.0.1", master.tlsPort());
        TestMember a = impatientMember(opened(RedisServer.running(new LettuceConnectionFactory(
                nodes,
                LettuceClientConfiguration.builder()
                        .useSsl()
                        .disablePeerVerification()
                        .build()))));

        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    /** It works until the last step of connecting; then it is lost. Without pauses this takes a tenth of the time. */
    @Test
    void serverThatClosesConnectionsSoonIsConnectedToWithGrowingPauses() {
        SilentProxy proxy = open(new SilentProxy(server.port()));
        proxy.closeConnectionsAfter("maxmemory_policy");
        long start = System.nanoTime();

        open(new TestMember(to(proxy.port()), TestMember.IMPATIENT));

        await().atMost(Duration.ofSeconds(30)).until(() -> proxy.accepted() >= 16);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(700));
    }

    private LettuceConnectionFactory to(int port) {
        return opened(RedisServer.running(new LettuceConnectionFactory(
                new RedisStandaloneConfiguration("127.0.0.1", port),
                LettuceClientConfiguration.defaultConfiguration())));
    }
}
