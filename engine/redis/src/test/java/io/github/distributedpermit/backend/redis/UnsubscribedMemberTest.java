package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.DocumentedRights.PASSWORD;
import static io.github.distributedpermit.backend.redis.DocumentedRights.USER;
import static io.github.distributedpermit.backend.redis.DocumentedRights.rule;
import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Members that Redis cannot notify: those that are alive are served by their re-check, those that have crashed block no other. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnsubscribedMemberTest extends RedisTest {

    /** The least that an answer says to a member that nothing can notify and that comes next. */
    private static final Duration SOON = Duration.ofMillis(50);

    private final RedisServer server = RedisServer.started();

    @BeforeEach
    void emptyAndWithoutTheRight() throws IOException {
        server.ask(commands -> commands.flushall());
        DocumentedRights.permit(eye(server), rule().replace("+subscribe ", ""));
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    void isServedByItsRecheckAlthoughOthersAlwaysWait() throws IOException {
        TestMember a = subscribed();
        TestMember b = subscribed();
        TestMember deaf = unsubscribed();
        a.queue(key(), 1, 1);
        deaf.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);

        Holding recheck = deaf.queue(key(), 1, 1);
        assertThat(recheck.permits()).isZero();
        a.queue(key(), 1, 1);
        b.keep(key(), 0);

        assertThat(deaf.queue(key(), 1, 1).permits())
                .as("the permit that came back while it was the next one")
                .isEqualTo(1);
        assertThat(recheck.others().recheckAfter())
                .as("so that this permit is not unused for long")
                .hasValue(SOON);
        deaf.keep(key(), 0);
        a.awaitGrant(key(), 1);
    }

    @Test
    void isNotServedBeforeThoseWhoWaitForLonger() throws IOException {
        TestMember a = subscribed();
        TestMember b = subscribed();
        TestMember deaf = unsubscribed();
        a.queue(key(), 1, 1);
        deaf.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
        a.queue(key(), 1, 1);

        assertThat(deaf.queue(key(), 1, 1).others().recheckAfter())
                .as("its oldest call is younger than that of the other")
                .isEmpty();
        b.keep(key(), 0);
        a.awaitGrant(key(), 1);
    }

    @Test
    void severalTakeThePermitInTurn() throws IOException {
        TestMember a = unsubscribed();
        TestMember b = unsubscribed();
        TestMember c = unsubscribed();
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        c.queue(key(), 1, 1);
        a.keep(key(), 0);
        assertThat(a.queue(key(), 1, 1).permits())
                .as("the permit is free until one of the others claims")
                .isEqualTo(1);

        assertThat(b.queue(key(), 1, 1).permits()).isZero();
        assertThat(c.queue(key(), 1, 1).permits()).isZero();
        a.keep(key(), 0);
        assertThat(b.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(c.queue(key(), 1, 1).permits()).isZero();
        b.keep(key(), 0);
        assertThat(c.queue(key(), 1, 1).permits()).isEqualTo(1);
    }

    @Test
    void crashedMemberThatWasSubscribedAgainBlocksNoOther() throws IOException {
        TestMember a = subscribed();
        TestMember b = subscribed();
        TestMember crashing = unsubscribed();
        a.queue(key(), 1, 1);
        crashing.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        a.keep(key(), 0);
        b.awaitGrant(key(), 1);
        DocumentedRights.permit(eye(server), rule());
        await().atMost(PATIENCE).until(() -> subscribers(crashing) == 1);
        assertThat(crashing.queue(key(), 1, 1).others().recheckAfter().orElseThrow())
                .isGreaterThan(SOON);
        a.queue(key(), 1, 1);
        crashing.close();
        await().atMost(PATIENCE).until(() -> subscribers(crashing) == 0);

        b.keep(key(), 0);

        a.awaitGrant(key(), 1);
    }

    @Test
    void crashedMemberThatWasPassedOverStaysOutOfTheQueue() throws IOException {
        TestMember a = subscribed();
        TestMember b = subscribed();
        TestMember crashed = unsubscribed();
        a.queue(key(), 1, 1);
        crashed.queue(key(), 1, 1);
        crashed.close();
        for (int i = 0; i < 5; i++) {
            b.queue(key(), 1, 1);
            a.keep(key(), 0);
            b.awaitGrant(key(), 1);
            a.queue(key(), 1, 1);
            b.keep(key(), 0);
            a.awaitGrant(key(), 1);
            a.recorder().grants().clear();
            b.recorder().grants().clear();
        }
    }

    private TestMember subscribed() {
        TestMember member = open(new TestMember(factory(server), settings()));
        await().atMost(PATIENCE).until(() -> subscribers(member) == 1);
        return member;
    }

    private TestMember unsubscribed() {
        return open(new TestMember(opened(server.connectionFactory(USER, PASSWORD)), settings()));
    }

    private static RedisSettings settings() {
        return RedisSettings.ofPrefix(RedisSettings.DEFAULT_PREFIX).withGrace(Duration.ZERO);
    }

    private long subscribers(TestMember member) {
        byte[] channel = RedisKeys.channel(RedisSettings.DEFAULT_PREFIX, member.id());
        return server.ask(commands -> commands.pubsubNumsub(new String(channel, StandardCharsets.UTF_8)))
                .values()
                .iterator()
                .next();
    }
}
