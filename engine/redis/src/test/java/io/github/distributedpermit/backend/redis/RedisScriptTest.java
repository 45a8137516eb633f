package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The effect and the cost of the scripts, on a real server. */
@ExtendWith(RedisExtension.class)
class RedisScriptTest extends RedisTest {

    private final RedisServer server;

    RedisScriptTest(RedisServer server) {
        this.server = server;
    }

    @Test
    void flushedScriptsAreLoadedAgain() {
        TestMember a = member(factory(server));
        RedisEye eye = eye(server);
        for (int i = 0; i < 3; i++) {
            eye.commands().scriptFlush();
            assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
            eye.commands().scriptFlush();
            TestMember.answer(a.store().override(key(), OverrideLimit.of(1)));
            eye.commands().scriptFlush();
            assertThat(TestMember.answer(a.store().inspect(key())).used()).isEqualTo(1);
            TestMember.answer(a.store().override(key(), OverrideLimit.empty()));
            a.keep(key(), 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"state", "line", "leases", "tombs", "override"})
    void foreignTypeAtAKeyOfOursIsNamedAndNotOverwritten(String part) {
        String name = "permits:{" + key() + "}:" + part;
        RedisCommands<String, byte[]> commands = eye(server).commands();
        if (part.equals("override")) {
            commands.lpush(name, bytes("foreign"));
        } else {
            commands.set(name, bytes("foreign"));
        }
        TestMember a = member(factory(server));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining(key());
        assertThat(commands.type(name)).isEqualTo(part.equals("override") ? "list" : "string");
        assertThat(commands.keys("permits:{" + key() + "}*")).containsExactly(name);
    }

    @Test
    void foreignHashAtAKeyOfOursIsNotOverwritten() {
        String name = RedisKey.of("permits", key()).toString();
        RedisCommands<String, byte[]> commands = eye(server).commands();
        commands.hset(name, "field", bytes("foreign"));
        TestMember a = member(factory(server));

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 1, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining(name);
        assertThat(commands.hgetall(name)).hasSize(1);
    }

    @Test
    void stateWithoutItsHeaderIsForeign() {
        TestMember a = memberWithoutGrace(factory(server));
        a.queue(key(), 1, 1);
        String name = RedisKey.of("permits", key()).toString();
        assertThat(eye(server).commands().hdel(name, "*")).isEqualTo(1);

        PermitStoreException refused = a.failure(a.next(key(), 1, 1, 3, true));

        assertThat(refused.isPermanent()).isTrue();
        assertThat(refused).hasMessageContaining(name);
    }

    @Test
    void uncontendedPairIsTwoCommandsAndFewCallsInside() {
        TestMember a = member(factory(server)).lease(Duration.ofSeconds(15));
        RedisEye eye = eye(server);
        pair(a);
        long before = eye.calls("evalsha");
        long allBefore = eye.calls("");
        for (int i = 0; i < 100; i++) {
            pair(a);
        }
        assertThat(eye.calls("evalsha") - before).isEqualTo(200);
        // TIME, GET of the lineage, HMGET and HSET in each; the others are amortised, or are from the watch and from
        // this test
        assertThat((eye.calls("") - allBefore) / 200.0).isBetween(5.0, 5.6);
    }

    @Test
    void costOfAClaimDoesNotGrowWithTheMembersOfAKey() {
        long few = callsPerContendedClaim(10, key() + "-few");
        long many = callsPerContendedClaim(2_000, key() + "-many");
        assertThat(many).isLessThanOrEqualTo(few + 3);
    }

    private long callsPerContendedClaim(int members, String key) {
        LettuceConnectionFactory factory = factory(server);
        TestMember a = member(factory);
        TestMember b = member(factory);
        RedisEye eye = eye(server);
        eye.crowd("permits", key, members, Duration.ofMinutes(5));
        List<Holding> warm = new ArrayList<>(List.of(a.queue(key, members + 1, 1)));
        warm.add(b.queue(key, members + 1, 1));
        assertThat(warm).extracting(Holding::permits).containsExactly(1, 0);
        long before = eye.calls("");
        int rounds = 20;
        for (int i = 0; i < rounds; i++) {
            a.keep(key, 0);
            a.queue(key, members + 1, 1);
            b.keep(key, 0);
            b.queue(key, members + 1, 1);
        }
        return (eye.calls("") - before) / (4L * rounds);
    }

    @Test
    void crashedHeadOfTheQueueIsSkipped() {
        TestMember a = member(factory(server));
        TestMember crashed = member(factory(server));
        TestMember c = member(factory(server));
        a.queue(key(), 1, 1);
        crashed.queue(key(), 1, 1);
        c.queue(key(), 1, 1);
        crashed.close();
        byte[] bytes = RedisKeys.channel("permits", crashed.id());
        String channel = new String(bytes, StandardCharsets.UTF_8);
        RedisEye eye = eye(server);
        await().atMost(PATIENCE)
                .until(() -> eye.commands().pubsubNumsub(channel).containsValue(0L));

        a.keep(key(), 0);

        c.awaitGrant(key(), 1);
        assertThat(TestMember.answer(c.store().inspect(key())).members())
                .singleElement()
                .satisfies(m -> assertThat(m.member()).isEqualTo(c.id()));
    }

    @Test
    void notificationHasTheValuesOfTheRecord() {
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        TestMember c = member(factory(server));
        a.queue(key(), 2, 2);
        b.queue(key(), 2, 2);
        c.queue(key(), 1, 1);

        a.keep(key(), 1);
        b.awaitGrant(key(), 1);
        Holding partly = b.recorder().grants().get(key());
        assertThat(partly).isNotNull();
        assertThat(partly.others().contended()).isTrue();
        assertThat(partly.limit()).isEqualTo(2);
        assertThat(partly.others().over()).isFalse();

        a.keep(key(), 0);
        b.awaitGrant(key(), 2);
        Holding whole = b.recorder().grants().get(key());
        assertThat(whole).isNotNull();
        assertThat(whole.version()).isGreaterThan(partly.version());
        assertThat(whole.others().contended()).isTrue();
        assertThat(c.recorder().grants()).isEmpty();
    }

    @Test
    void manyExpiredMembersAreRemoved() {
        RedisEye eye = eye(server);
        int members = 2_500;
        eye.crowd("permits", key(), members, Duration.ofMillis(200));
        TestMember a = member(factory(server));
        await().atMost(PATIENCE).until(() -> a.attempt(key(), members, members).permits() == members);
        assertThat(Packed.Header.of(header(eye)).used()).isEqualTo(members);
        assertThat(eye.state("permits", key())).hasSize(2);
        assertThat(eye.commands().zcard("permits:{" + key() + "}:leases")).isEqualTo(1);
    }

    @Test
    void longQueueIsServedAtOnce() {
        RedisEye eye = eye(server);
        int members = 5_000;
        TestMember a = member(factory(server));
        TestMember.answer(a.store().override(key(), OverrideLimit.of(0)));
        eye.crowd("permits", key(), members, Duration.ofMinutes(5));
        assertThat(Packed.Header.of(header(eye)).queued()).isEqualTo(members);

        eye.subscribeForCrowd("permits", members);
        TestMember.answer(a.store().override(key(), OverrideLimit.empty()));

        assertThat(Packed.Header.of(header(eye)).used()).isEqualTo(members);
        assertThat(Packed.Header.of(header(eye)).queued()).isZero();
        assertThat(a.attempt(key(), members, 1).permits()).isZero();
    }

    /** As after a silence of the network; by then the member may have returned what the operator saw, and got other permits. */
    @Test
    void evictionThatArrivesLateTakesNothing() {
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        a.queue(key(), 1, 1);
        RedisKey name = RedisKey.of("permits", key());
        Supplier<Long> late = () -> eye(server)
                .commands()
                .eval(
                        Script.EVICT.get().source(),
                        ScriptOutputType.INTEGER,
                        Stream.of(name.names())
                                .map(each -> new String(each, StandardCharsets.UTF_8))
                                .toArray(String[]::new),
                        bytes(a.id()),
                        bytes(Long.toString(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis() - 1_000))),
                        bytes("0"));

        assertThat(late.get()).isEqualTo(-1);

        assertThat(TestMember.answer(b.store().inspect(key())).used()).isEqualTo(1);
        assertThat(TestMember.answer(b.store().evict(key(), a.id()))).isEqualTo(1);
        assertThat(TestMember.answer(b.store().inspect(key())).used()).isZero();
    }

    private byte[] header(RedisEye eye) {
        byte[] packed = eye.state("permits", key()).get(Packed.HEADER);
        assertThat(packed).isNotNull();
        return packed == null ? new byte[0] : packed;
    }

    private void pair(TestMember a) {
        assertThat(a.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(a.keep(key(), 0).permits()).isZero();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
