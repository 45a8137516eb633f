package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What a member checks when it connects: the eviction policy, and whether the server shows its replication id. */
class RedisStartTest extends RedisTest {

    @ParameterizedTest
    @ValueSource(strings = {"volatile-lru", "allkeys-lfu"})
    void evictionPolicyThatMayDropPermitsIsWarnedAbout(String policy) {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", policy));
        Logged warnings = open(new Logged(ServerCheck.class));

        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);

        warnings.awaitText(policy, "noeviction", "@PermitRedisConnectionFactory");
        assertThat(a.store().warning())
                .hasValueSatisfying(warning -> assertThat(warning).contains(policy));
    }

    @Test
    void evictionPolicyIsAskedForAgainIfTheAnswerIsLate() {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", "allkeys-lru"));
        SilentProxy proxy = open(new SilentProxy(server.port()));
        Logged warnings = open(new Logged(ServerCheck.class));
        RedisEye eye = eye(server);
        CountDownLatch late = proxy.holdNextAnswerWith("maxmemory_policy");

        TestMember a = member(opened(RedisServer.connectionFactory(proxy.port())));
        // the second echo of the subscription shows that the first question was given up
        await().until(() -> eye.calls("publish") >= 2);
        late.countDown();

        warnings.awaitText("allkeys-lru", "noeviction");
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    /** The client gives the question up sooner than the library would. */
    @Test
    void lateAnswerDoesNotSwitchTheGraceOff() {
        RedisServer server = open(RedisServer.started());
        SilentProxy proxy = open(new SilentProxy(server.port()));
        Logged warnings = open(new Logged(ServerCheck.class));
        RedisEye eye = eye(server);
        CountDownLatch late = proxy.holdNextAnswerWith("master_replid");
        LettuceClientConfiguration impatient = LettuceClientConfiguration.builder()
                .commandTimeout(Duration.ofSeconds(1))
                .clientOptions(ClientOptions.builder()
                        .timeoutOptions(TimeoutOptions.enabled())
                        .build())
                .build();

        TestMember a = member(opened(RedisServer.running(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", proxy.port()), impatient))));
        // the second echo of the subscription shows that the question was given up
        await().until(() -> eye.calls("publish") >= 2);
        late.countDown();

        await().ignoreException(PermitStoreException.class)
                .atMost(TestMember.PATIENCE)
                .untilAsserted(() -> assertThat(a.queue(key(), 1, 1).epoch()).isNotZero());
        assertThat(warnings.texts()).isEmpty();
    }

    @Test
    void noWarningWithoutEviction() {
        RedisServer server = open(RedisServer.started("--maxmemory-policy", "noeviction"));
        Logged warnings = open(new Logged(ServerCheck.class));

        member(factory(server)).queue(key(), 1, 1);

        assertThat(warnings.texts()).isEmpty();
    }

    @Test
    void startWithoutTheRightToAskForThePolicyIsNoProblem() {
        RedisServer server = open(RedisServer.started());
        eye(server).acl("SETUSER", "default", "-info");
        Logged warnings = open(new Logged(ServerCheck.class));

        TestMember a = open(new TestMember(factory(server), TestMember.WITHOUT_GRACE));
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(warnings.texts()).isEmpty();
        eye(server).acl("SETUSER", "default", "+info");
    }
}
