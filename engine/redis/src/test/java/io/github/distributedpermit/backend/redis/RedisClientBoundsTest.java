package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The number of commands that wait in the client is bounded. */
class RedisClientBoundsTest extends RedisTest {

    @Test
    void cancelledClaimIsNeitherKeptNorCounted() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        eye.pauseWrites();

        CompletableFuture<Holding> claim =
                a.store().claim(a.next(key(), 1, 1, 1, true)).toCompletableFuture();
        assertThat(claim.cancel(false)).isTrue();

        assertThat(claim).isCancelled();
        eye.resumeWrites();
        assertThat(a.keep(key(), 0).permits()).isZero();
    }

    @Test
    void claimsFailAtOnceWhenTooManyBeforeThemWereNeverAnswered() {
        RedisServer server = open(RedisServer.started());
        TestMember a = member(factory(server));
        a.queue(key(), 1, 1);
        RedisEye eye = eye(server);
        eye.pauseWrites();

        for (int i = 0; i < UnresponsiveNodes.MAX_UNANSWERED; i++) {
            claim(a).cancel(false);
        }

        await().untilAsserted(
                        () -> { // one claim in a second is sent all the same
                            CompletableFuture<Holding> claim = claim(a);
                            claim.cancel(false); // does nothing to one that has failed
                            assertThat(claim)
                                    .failsWithin(Duration.ZERO)
                                    .withThrowableThat()
                                    .withCauseInstanceOf(PermitStoreException.class)
                                    .withMessageContaining("answered nothing");
                        });
        eye.resumeWrites();
        RedisFaultTest.awaitWorking(a);
        assertThat(a.keep(key(), 1).permits()).isEqualTo(1);
    }

    private CompletableFuture<Holding> claim(TestMember member) {
        return member.store().claim(member.next(key(), 1, 1, 1, true)).toCompletableFuture();
    }

    @Test
    void unresponsiveNodeGetsOneCommandInASecond() {
        AtomicLong nanos = new AtomicLong();
        UnresponsiveNodes nodes = new UnresponsiveNodes(nanos::get);
        for (int i = 0; i < UnresponsiveNodes.MAX_UNANSWERED; i++) {
            assertThat(nodes.admits("a")).isTrue();
            nodes.unanswered("a");
        }
        assertThat(nodes.admits("a")).isFalse();
        assertThat(nodes.admits("b")).isTrue();
        nanos.addAndGet(1_000_000_000);
        assertThat(nodes.admits("a")).isTrue();
        assertThat(nodes.admits("a")).isFalse();
        nodes.answered("a");
        assertThat(nodes.admits("a")).isTrue();
    }
}
