package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Nothing piles up in the client. */
class RedisClientBoundsTest extends RedisTest {

    @Test
    void cancelledClaimIsNeitherKeptNorCounted() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        eye.commands().clientPause(500);

        CompletableFuture<Holding> claim =
                a.store().claim(a.next(key(), 1, 1, 1, true)).toCompletableFuture();
        assertThat(claim.cancel(false)).isTrue();

        assertThat(claim).isCancelled();
        assertThat(a.keep(key(), 0).permits()).isZero();
    }

    @Test
    void claimsFailAtOnceWhenTooManyBeforeThemWereNeverAnswered() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        eye(server).commands().clientPause(3_000);

        for (int i = 0; i < Silence.MAX_UNANSWERED; i++) {
            a.store().claim(a.next(key(), 1, 1, 1, true)).toCompletableFuture().cancel(false);
        }

        assertThat(a.failure(a.next(key(), 1, 1, 1, true))).hasMessageContaining("answered nothing");
        RedisFaultTest.awaitWorking(a);
        assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
    }

    @Test
    void silentNodeIsAskedOnceInASecond() {
        AtomicLong nanos = new AtomicLong();
        Silence silence = new Silence(nanos::get);
        for (int i = 0; i < Silence.MAX_UNANSWERED; i++) {
            assertThat(silence.admits("a")).isTrue();
            silence.unanswered("a");
        }
        assertThat(silence.admits("a")).isFalse();
        assertThat(silence.admits("b")).isTrue();
        nanos.addAndGet(1_000_000_000);
        assertThat(silence.admits("a")).isTrue();
        assertThat(silence.admits("a")).isFalse();
        silence.answered("a");
        assertThat(silence.admits("a")).isTrue();
    }
}
