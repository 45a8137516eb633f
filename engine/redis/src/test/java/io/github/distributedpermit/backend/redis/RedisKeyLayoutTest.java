package io.github.distributedpermit.backend.redis;

import static io.github.distributedpermit.backend.redis.TestMember.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RedisExtension.class)
class RedisKeyLayoutTest extends RedisTest {

    private final RedisServer server;

    RedisKeyLayoutTest(RedisServer server) {
        this.server = server;
    }

    @ParameterizedTest
    @ValueSource(strings = {"report", "}", "{", "{a}b", "}a{", "a b", "a\u0000b", "tenant:ü/\n😀", "{}"})
    void allOfAKeyIsInOneHashSlot(String text) {
        String prefix = "slots:" + key();
        RedisKey names = RedisKey.of(prefix, text);
        Set<Integer> slots = Arrays.stream(names.names()).map(SlotHash::getSlot).collect(Collectors.toSet());
        assertThat(slots).hasSize(1);

        RedisSettings settings = new RedisSettings(prefix, Duration.ofSeconds(30), Duration.ofSeconds(5), PATIENCE)
                .withGrace(Duration.ZERO);
        TestMember a = open(new TestMember(factory(server), settings));
        TestMember b = open(new TestMember(factory(server), settings));
        a.queue(text, 1, 1);
        b.queue(text, 1, 1);
        a.keep(text, 0);
        b.awaitGrant(text, 1);
        TestMember.answer(b.store().override(text, OverrideLimit.of(2)));
        TestMember.answer(a.store().claim(a.next(text, 2, 3, 3, true)));

        String stem = prefix + ":{" + names.encoded() + "}:";
        assertThat(eye(server).keys(prefix))
                .containsExactlyInAnyOrder(
                        stem + "state", stem + "line", stem + "leases", stem + "tombs", stem + "override");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Aa", "BB"})
    void keysWithTheSameHashCodeAreNotMixedUp(String first) {
        assertThat("Aa").hasSameHashCodeAs("BB");
        RedisKeys keys = new RedisKeys("permits");
        for (String key : new String[] {first, "Aa", "BB", first}) {
            assertThat(keys.keyOf(key)).hasToString("permits:{" + key + "}:state");
        }
    }

    @Test
    void prefixWithBracesIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisSettings.ofPrefix("{a}"))
                .withMessageContaining("braces");
    }

    @Test
    void recordsStaySmallEnoughForTheCompactHash() {
        TestMember a = member(factory(server));
        a.queue(key(), 1_000_000, 1_000_000);

        RedisEye eye = eye(server);
        assertThat(eye.state("permits", key()).values()).allMatch(packed -> packed.length <= 64);
        assertThat(eye.commands().objectEncoding(RedisKey.of("permits", key()).toString()))
                .isIn("ziplist", "listpack");
    }

    @Test
    void keyWithManyMembersIsStoredAsAHashTable() {
        RedisEye eye = eye(server);
        eye.crowd("permits", key(), 30, Duration.ofMinutes(5));
        assertThat(encoding(eye)).isIn("ziplist", "listpack");
        eye.crowd("permits", key(), 32, Duration.ofMinutes(5));
        assertThat(encoding(eye)).isEqualTo("hashtable");
        assertThat(eye.state("permits", key())).hasSize(33);
    }

    private String encoding(RedisEye eye) {
        return eye.commands().objectEncoding(RedisKey.of("permits", key()).toString());
    }

    @Test
    void idleKeysVanishByThemselves() {
        RedisSettings settings = new RedisSettings(key(), Duration.ofMillis(300), Duration.ofSeconds(5), PATIENCE)
                .withGrace(Duration.ZERO);
        TestMember a = open(new TestMember(factory(server), settings)).lease(Duration.ofSeconds(1));
        TestMember b = open(new TestMember(factory(server), settings)).lease(Duration.ofMillis(300));
        a.queue("returned", 1, 1);
        b.queue("returned", 1, 1);
        a.keep("returned", 0);
        b.queue("abandoned", 1, 1);
        b.queue("paused", 1, 1);
        TestMember.answer(b.store().override("paused", OverrideLimit.of(0)));

        RedisEye eye = eye(server);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(eye.keys(key())).containsExactly(key() + ":{paused}:override"));
        assertThat(a.queue("paused", 1, 1).permits()).isZero();
    }

    @Test
    void everyKeyInUseHasAnExpiryBeyondItsLease() {
        String prefix = key();
        RedisSettings settings = new RedisSettings(prefix, Duration.ofSeconds(30), Duration.ofSeconds(5), PATIENCE)
                .withGrace(Duration.ZERO);
        TestMember a = open(new TestMember(factory(server), settings)).lease(Duration.ofSeconds(60));
        TestMember b = open(new TestMember(factory(server), settings)).lease(Duration.ofSeconds(60));
        RedisEye eye = eye(server);
        for (int round = 0; round < 3; round++) {
            a.queue("k", 1, 1);
            b.queue("k", 1, 1);
            assertThat(eye.keys(prefix))
                    .hasSizeBetween(3, 4)
                    .allSatisfy(name -> assertThat(eye.commands().pttl(name))
                            .as(name)
                            .isBetween(
                                    Duration.ofSeconds(50).toMillis(),
                                    Duration.ofSeconds(125).toMillis()));
            a.keep("k", 0);
            b.keep("k", 0);
            assertThat(eye.keys(prefix))
                    .allSatisfy(name -> assertThat(eye.commands().pttl(name))
                            .as(name)
                            .isBetween(1L, Duration.ofSeconds(95).toMillis()));
        }
    }

    @Test
    void claimAfterADeletionIsGrantedCorrectly() {
        TestMember a = member(factory(server));
        TestMember b = member(factory(server));
        a.queue(key(), 1, 1);
        b.queue(key(), 1, 1);
        long before = a.keep(key(), 1).version();
        RedisEye eye = eye(server);
        eye.commands().del(RedisKey.of("permits", key()).toString()); // the sets line, leases and tombs remain

        assertThat(b.queue(key(), 1, 1).permits()).isEqualTo(1);
        assertThat(a.keep(key(), 1).permits()).isZero();
        assertThat(b.keep(key(), 1).others().contended()).isFalse();
        assertThat(b.keep(key(), 1).version()).isGreaterThan(before);
        assertThat(TestMember.answer(a.store().inspect(key())).members()).hasSize(1);
    }

    @Test
    void keyStaysKnownIfAnOlderClaimThatWantsNothingArrivesLater() {
        RedisKeys keys = new RedisKeys("permits");
        TestMember a = member(factory(server));
        keys.keyOf(a.next("key", 1, 1, 1, true));
        Claim nothing = a.next("key", 1, 0, 0, false);
        keys.keyOf(a.next("key", 1, 1, 1, true));
        keys.keyOf(nothing);
        assertThat(keys.userKey("key")).contains("key");
        keys.keyOf(a.next("key", 1, 0, 0, false));
        assertThat(keys.userKey("key")).isEmpty();
    }

    @Test
    void keyStaysKnownIfATryIsRefusedAfterALaterClaimWasSent() {
        RedisKeys keys = new RedisKeys("permits");
        TestMember a = member(factory(server));
        Claim attempt = a.next("key", 1, 1, 1, false);
        keys.keyOf(attempt);
        keys.keyOf(a.next("key", 1, 1, 1, true));
        keys.ended(attempt, 0);
        assertThat(keys.userKey("key")).contains("key");
    }

    @Test
    void onlyKeysInUseAreKnown() {
        RedisKeys keys = new RedisKeys("permits");
        TestMember a = member(factory(server));
        for (int i = 0; i < 1000; i++) {
            keys.keyOf(a.next("k" + i, 1, 1, 1, true));
            Claim attempt = a.next("try" + i, 1, 1, 1, false);
            keys.keyOf(attempt);
            assertThat(keys.userKey("k" + i)).contains("k" + i);
            assertThat(keys.userKey("try" + i)).contains("try" + i);
            keys.ended(attempt, 0);
            assertThat(keys.userKey("try" + i)).isEmpty();
            keys.keyOf(a.next("k" + i, 1, 0, 0, false));
            assertThat(keys.userKey("k" + i)).isEmpty();
        }
    }
}
