package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PendingClaim;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.KillArgs;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Claims that arrive while others are unanswered are sent in few commands. */
class ClaimPipelineTest extends RedisTest {

    private static final int KEYS = 300;

    private final RedisServer server = open(RedisServer.started());
    private final Set<EventLoop> eventLoops = ConcurrentHashMap.newKeySet();
    private final ClientResources resources = ownThreads();
    private final LettuceConnectionFactory factory = withOwnThreads(Duration.ofSeconds(10));
    private final TestMember a = member(factory);
    private final RedisEye eye = eye(server);

    @Test
    void claimsOfManyKeysAreFewCommands() throws Exception {
        a.queue("first", 1, 1);
        long before = eye.calls("evalsha");

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();
        eye.resumeWrites();

        for (CompletableFuture<Holding> claim : claims) {
            assertThat(claim.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        }

        assertThat(eye.calls("evalsha") - before).isBetween(5L, 7L);
    }

    /** A return and the claims that follow it are one claim, if they are sent together, and all of them are answered. */
    @Test
    void claimsOfOneKeyThatAreSentTogetherAreOne() throws Exception {
        a.queue("first", 1, 1);
        a.queue("hot", 1, 1);
        List<CompletableFuture<Holding>> busy = claimsWhileRedisIsBusy();
        long before = eye.calls("hmget");
        CompletableFuture<Holding> returned =
                a.store().claim(a.next("hot", 1, 0, 0, true)).toCompletableFuture();
        CompletableFuture<Holding> again =
                a.store().claim(a.next("hot", 1, 1, 1, true)).toCompletableFuture();

        eye.resumeWrites();

        assertThat(again.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        assertThat(returned.get(20, TimeUnit.SECONDS).sequence())
                .isEqualTo(again.get(20, TimeUnit.SECONDS).sequence());
        for (CompletableFuture<Holding> claim : busy) {
            claim.get(20, TimeUnit.SECONDS);
        }
        assertThat(eye.calls("hmget") - before).as("claims that Redis executed").isEqualTo(KEYS + 1);
    }

    /** The claim that asks again holds no more than the return left, so it does not keep the permit from those who wait. */
    @Test
    void returnedPermitIsServedToTheQueueAlthoughTheMemberAsksAgain() throws Exception {
        TestMember b = member(factory(server));
        RedisFaultTest.awaitSubscribed(eye, b);
        a.queue("hot", 1, 1);
        b.queue("hot", 1, 1);
        List<CompletableFuture<Holding>> busy = claimsWhileRedisIsBusy();
        CompletableFuture<Holding> returned =
                a.store().claim(a.next("hot", 1, 0, 0, true)).toCompletableFuture();
        CompletableFuture<Holding> again =
                a.store().claim(a.next("hot", 1, 1, 1, true)).toCompletableFuture();

        eye.resumeWrites();

        b.awaitGrant("hot", 1);
        assertThat(again.get(20, TimeUnit.SECONDS).permits()).isZero();
        assertThat(returned.get(20, TimeUnit.SECONDS).permits()).isZero();
        for (CompletableFuture<Holding> claim : busy) {
            claim.get(20, TimeUnit.SECONDS);
        }
    }

    /** Its effect was superseded before; what the member was granted since is in use. */
    @Test
    void returnThatArrivesAfterALaterClaimWasSentTakesNothing() throws Exception {
        a.queue("first", 1, 1);
        TestMember b = member(factory(server));
        Claim late = a.next("hot", 1, 0, 0, true);
        a.queue("hot", 1, 1);
        b.queue("hot", 1, 1);
        List<CompletableFuture<Holding>> busy = claimsWhileRedisIsBusy();
        a.store().claim(late);
        CompletableFuture<Holding> renewed =
                a.store().claim(a.next("hot", 1, 1, 1, true)).toCompletableFuture();
        eye.resumeWrites();

        assertThat(renewed.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        assertThat(b.queue("hot", 1, 1).permits()).as("of one that is in use").isZero();
        for (CompletableFuture<Holding> claim : busy) {
            claim.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void withdrawnClaimDoesNotTakeTheOneItReplacesWithIt() throws Exception {
        a.queue("first", 1, 1);
        a.queue("hot", 1, 1);
        List<CompletableFuture<Holding>> busy = claimsWhileRedisIsBusy();
        CompletableFuture<Holding> returned =
                a.store().claim(a.next("hot", 1, 0, 0, true)).toCompletableFuture();
        CompletableFuture<Holding> again =
                a.store().claim(a.next("hot", 1, 0, 1, true)).toCompletableFuture();
        again.cancel(false);

        eye.resumeWrites();

        assertThat(returned.get(20, TimeUnit.SECONDS).permits()).isZero();
        for (CompletableFuture<Holding> claim : busy) {
            claim.get(20, TimeUnit.SECONDS);
        }
    }

    /** Their command time-out has not started. */
    @Test
    void claimsThatWaitForOthersAreNotWrittenYet() throws Exception {
        a.queue("first", 1, 1);
        long before = System.nanoTime();

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();

        PendingClaim last = (PendingClaim) claims.get(KEYS - 1);
        assertThat(last.writtenAtNanos()).isEmpty();
        eye.resumeWrites();
        claims.get(KEYS - 1).get(20, TimeUnit.SECONDS);
        assertThat(last.writtenAtNanos().orElseThrow()).isBetween(before, System.nanoTime());
    }

    @Test
    void scriptThatRedisHasForgottenIsSentWholeOnce() throws Exception {
        a.queue("first", 1, 1);
        eye.commands().scriptFlush();

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();
        eye.resumeWrites();

        for (CompletableFuture<Holding> claim : claims) {
            assertThat(claim.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        }
    }

    @Test
    void keyThatRedisRefusesFailsAlone() throws Exception {
        a.queue("first", 1, 1);
        eye.commands().set("permits:{key-100}:state", "foreign".getBytes(StandardCharsets.UTF_8));

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();
        eye.resumeWrites();

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
    void claimCancelledBeforeItIsSentNeverReachesRedis() throws Exception {
        a.queue("first", 1, 1);

        List<CompletableFuture<Holding>> claims = claimsWhileRedisIsBusy();
        assertThat(claims.get(200).cancel(false)).isTrue();
        eye.resumeWrites();

        assertThat(claims.get(299).get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        assertThat(eye.state("permits", "key-200")).isEmpty();
        assertThat(eye.state("permits", "key-201")).hasSize(2);
    }

    @Test
    void claimsThatArriveBeforeTheFirstIsWrittenAreSentWithIt() throws Exception {
        a.queue("first", 1, 1);
        long before = eye.calls("evalsha");

        List<CompletableFuture<Holding>> claims = whileNothingIsWritten(() -> claims(KEYS / 10));

        for (CompletableFuture<Holding> claim : claims) {
            assertThat(claim.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
        }
        assertThat(eye.calls("evalsha") - before).isEqualTo(1);
    }

    @Test
    void claimsCancelledBeforeTheyAreWrittenTakeNoPlaceFromOthers() throws Exception {
        a.queue("first", 1, 1);
        long before = eye.calls("evalsha");

        for (int i = 0; i < 3; i++) {
            whileNothingIsWritten(() -> {
                List<CompletableFuture<Holding>> claims = claims(2);
                claims.forEach(claim -> claim.cancel(false));
                return claims;
            });
        }

        assertThat(eye.calls("evalsha") - before).isZero();
        assertThat(a.queue("last", 1, 1).permits()).isEqualTo(1);
    }

    @Test
    void commandThatIsNotWrittenInTimeFailsOnlyTheClaimItWasMadeFor() throws Exception {
        TestMember b = member(withOwnThreads(Duration.ofSeconds(5)));
        RedisFaultTest.awaitWorking(b);

        CompletableFuture<Holding> later = whileNothingIsWritten(() -> {
            CompletableFuture<Holding> oldest = claim(b, "oldest");
            CompletableFuture<Holding> other = claim(b, "other");
            assertThatThrownBy(() -> oldest.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(PermitStoreException.class);
            assertThat(other).isNotDone();
            return other;
        });

        assertThat(later.get(20, TimeUnit.SECONDS).permits()).isEqualTo(1);
    }

    @Test
    void commandThatLettuceDropsKeepsOthersBackNoLongerThanItsOwnClaim() throws Exception {
        Gap gap = new Gap();
        ClientResources slow =
                DefaultClientResources.builder().nettyCustomizer(gap).build();
        open(() -> slow.shutdown().get(20, TimeUnit.SECONDS));
        TestMember b = impatientMember(opened(server.connectionFactoryWith(client -> client.clientResources(slow)
                .commandTimeout(Duration.ofMinutes(1)) // longer than the test
                .clientOptions(ClientOptions.builder()
                        .timeoutOptions(TimeoutOptions.enabled())
                        .replayFilter(command -> true) // what is on its way or comes meanwhile is dropped
                        .build()))));
        b.queue("first", 1, 1);
        gap.open();
        eye.commands().clientKill(KillArgs.Builder.typeNormal().skipme(true));
        gap.await();
        AtomicReference<CompletableFuture<Holding>> waiting = new AtomicReference<>(claim(b, "dropped"));
        gap.close();

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            CompletableFuture<Holding> next = claim(b, "next");
            waiting.getAndSet(next).cancel(false);
            return isAnsweredSoon(next);
        });
    }

    private static boolean isAnsweredSoon(CompletableFuture<Holding> claim) throws InterruptedException {
        try {
            return claim.get(200, TimeUnit.MILLISECONDS).permits() == 1;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        }
    }

    private static CompletableFuture<Holding> claim(TestMember member, String key) {
        return member.store().claim(member.next(key, 1, 1, 1, true)).toCompletableFuture();
    }

    @Test
    void allWaitingClaimsFailWhenRedisIsLostHoweverMany() throws Exception {
        a.queue("first", 1, 1);
        eye.pauseWrites();
        List<CompletableFuture<Holding>> claims = IntStream.range(0, 300_000)
                .mapToObj(i -> a.store().claim(a.next("first", 1, 1, 1, true)).toCompletableFuture())
                .toList();

        server.stop();

        CompletableFuture<Void> all = CompletableFuture.allOf(claims.toArray(CompletableFuture[]::new));
        assertThatThrownBy(() -> all.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(PermitStoreException.class);
        assertThat(claims).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    private ClientResources ownThreads() {
        ClientResources own = DefaultClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        eventLoops.add(channel.eventLoop());
                    }
                })
                .build();
        open(() -> own.shutdown(0, 2, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS));
        return own;
    }

    private LettuceConnectionFactory withOwnThreads(Duration commandTimeout) {
        return opened(server.connectionFactoryWith(
                client -> client.clientResources(resources).commandTimeout(commandTimeout)));
    }

    /** Redis answers none of them before the test lets it. */
    private List<CompletableFuture<Holding>> claimsWhileRedisIsBusy() {
        eye.pauseWrites();
        return claims(KEYS);
    }

    private List<CompletableFuture<Holding>> claims(int keys) {
        return IntStream.range(0, keys)
                .mapToObj(
                        i -> a.store().claim(a.next("key-" + i, 1, 1, 1, true)).toCompletableFuture())
                .toList();
    }

    /** Blocks the threads that write for the members meanwhile. */
    private <T> T whileNothingIsWritten(Callable<T> what) throws Exception {
        CompletableFuture<Void> free = new CompletableFuture<>();
        try {
            for (EventLoop loop : eventLoops) {
                CompletableFuture<Void> blocked = new CompletableFuture<>();
                loop.execute(() -> {
                    blocked.complete(null);
                    free.join();
                });
                blocked.get(20, TimeUnit.SECONDS);
            }
            return what.call();
        } finally {
            free.complete(null);
        }
    }

    /** Delays the event by which Lettuce learns that a connection has ended. */
    private static final class Gap implements NettyCustomizer {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch closed = new CountDownLatch(1);
        private volatile boolean open;

        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelInactive(ChannelHandlerContext context) throws Exception {
                    if (open) {
                        reached.countDown();
                        closed.await();
                    }
                    super.channelInactive(context);
                }
            });
        }

        void open() {
            open = true;
        }

        void await() throws InterruptedException {
            assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
        }

        void close() {
            open = false;
            closed.countDown();
        }
    }
}
