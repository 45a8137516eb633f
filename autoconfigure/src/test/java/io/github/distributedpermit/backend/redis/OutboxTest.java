package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Claims that come while others are unanswered leave together. */
class OutboxTest extends RedisTest {

    private static final int KEYS = 300;
    private static final long PAUSE_MILLIS = 500;
    private static final long PATIENCE_MILLIS = 20_000;

    private final RedisServer server = open(RedisServer.started());
    private final TestMember a = member(factory(server));
    private final RedisEye eye = eye(server);

    @Test
    void claimsOfManyKeysAreFewCommands() throws Exception {
        a.queue("first", 1, 1);
        long before = eye.calls("evalsha");

        for (CompletableFuture<Holding> claim : claimsWhileRedisIsBusy()) {
            assertThat(claim.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        }

        assertThat(eye.calls("evalsha") - before).isBetween(5L, 7L);
    }

    @Test
    void scriptThatRedisHasForgottenIsSentWholeOnce() throws Exception {
        a.queue("first", 1, 1);
        eye.commands().scriptFlush();

        for (CompletableFuture<Holding> claim : claimsWhileRedisIsBusy()) {
            assertThat(claim.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        }
    }

    @Test
    void keyThatRedisRefusesFailsAlone() throws Exception {
        a.queue("first", 1, 1);
        eye.commands().set("permits:{key-100}:state", "foreign".getBytes(StandardCharsets.UTF_8));

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();

        for (int i = 0; i < KEYS; i++) {
            if (i != 100) {
                assertThat(claims.get(i).get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
            }
        }
        assertThatThrownBy(() -> claims.get(100).get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(PermitStoreException.class)
                .hasMessageContaining("key-100");
    }

    @Test
    void claimGivenUpBeforeItLeavesNeverReachesRedis() throws Exception {
        a.queue("first", 1, 1);

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();
        assertThat(claims.get(200).cancel(false)).isTrue();

        assertThat(claims.get(299).get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        assertThat(eye.state("permits", "key-200")).isEmpty();
        assertThat(eye.state("permits", "key-201")).hasSize(2);
    }

    @Test
    void howeverManyWaitWhenRedisGoesAwayAllAreTold() throws Exception {
        a.queue("first", 1, 1);
        eye.commands().clientPause(PATIENCE_MILLIS);
        List<CompletableFuture<Holding>> claims = IntStream.range(0, 300_000)
                .mapToObj(i -> a.store().claim(a.next("first", 1, 1, 1, true)).toCompletableFuture())
                .toList();

        server.stop();

        CompletableFuture<Void> all = CompletableFuture.allOf(claims.toArray(CompletableFuture[]::new));
        assertThatThrownBy(() -> all.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(PermitStoreException.class);
        assertThat(claims).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    private List<CompletableFuture<Holding>> claimsWhileRedisIsBusy() {
        eye.commands().clientPause(PAUSE_MILLIS);
        return IntStream.range(0, KEYS)
                .mapToObj(
                        i -> a.store().claim(a.next("key-" + i, 1, 1, 1, true)).toCompletableFuture())
                .toList();
    }
}
