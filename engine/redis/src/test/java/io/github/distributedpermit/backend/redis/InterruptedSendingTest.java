package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Something else happens at a certain point of a sending: an error, or the connection is given up. The server is real. */
class InterruptedSendingTest extends RedisTest {

    private static final Runnable NOTHING = () -> {};

    private final RedisServer server = open(RedisServer.started("--save", ""));
    private final RedisClient client = open(server.client());
    private final KnownEpochs epochs = new KnownEpochs(System::nanoTime);
    /** Runs once, before Lettuce executes the method of that name. */
    private final AtomicReference<Runnable> before = new AtomicReference<>(NOTHING);

    private String interrupted = "";
    private long sequence;

    @Test
    void formerMasterIsClosedByALaterAttemptIfTheFirstEndsWithAnError() {
        ClaimPipeline pipeline = pipeline();
        long epoch = answerOf(claim(pipeline)).epoch();
        before("eval", () -> {
            throw new StackOverflowError("made by the test");
        });
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> pipeline.closeServer(1));

        pipeline.closeServer(1);

        await().until(() -> closedEpoch() == (int) epoch);
    }

    /** All places of the window are taken, so that no look at the window would fail the claim before an answer comes. */
    @Test
    void claimThatMeetsTheEndOfTheConnectionFailsAtOnce() {
        ClaimPipeline pipeline = pipeline();
        answerOf(claim(pipeline));
        RedisEye eye = eye(server);
        eye.pauseWrites();
        for (int i = 0; i < ClaimPipeline.WINDOW; i++) {
            ClaimCall unanswered = claim(pipeline);
            await().until(() -> unanswered.writtenAtNanos().isPresent());
        }
        before("isOpen", () -> {
            pipeline.closeServer(1); // keeps the connection open until the server has answered
            pipeline.retire(PermitStoreException.passing("given up by the test", null));
        });

        ClaimCall late = claim(pipeline);

        boolean failed = late.isCompletedExceptionally();
        eye.resumeWrites();
        assertThat(failed).isTrue();
    }

    private void before(String method, Runnable task) {
        interrupted = method;
        before.set(task);
    }

    private ClaimCall claim(ClaimPipeline pipeline) {
        String key = key() + "-" + ++sequence;
        ClaimCall call = new ClaimCall(
                Claim.of(key, sequence, Duration.ofMinutes(1)).wanted(1).queued(1), RedisKey.of("permits", key));
        pipeline.enqueueClaim(call);
        return call;
    }

    private static Holding answerOf(CompletableFuture<Holding> claim) {
        return TestMember.answer(claim);
    }

    private int closedEpoch() {
        byte[] lineage = eye(server).commands().get("permits:lineage");
        return ByteBuffer.wrap(lineage).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
    }

    private ClaimPipeline pipeline() {
        StatefulRedisConnection<byte[], byte[]> real = client.connect(ByteArrayCodec.INSTANCE);
        RedisAsyncCommands<byte[], byte[]> commands = interruptible(RedisAsyncCommands.class, real.async(), null);
        SharedConnection connection = new SharedConnection(
                interruptible(StatefulRedisConnection.class, real, commands),
                RedisURI.create("127.0.0.1", server.port()),
                new UnresponsiveNodes(System::nanoTime),
                0);
        return new ClaimPipeline(
                connection,
                RedisKey.bytes("member"),
                TestMember.SETTINGS,
                null,
                epochs,
                new AtomicLong(-1),
                System::nanoTime);
    }

    /** @param commands what the method {@code async} returns */
    @SuppressWarnings("unchecked")
    private <T> T interruptible(Class<? super T> type, T real, @Nullable Object commands) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (commands != null && method.getName().equals("async")) {
                return commands;
            }
            if (method.getName().equals(interrupted)) {
                before.getAndSet(NOTHING).run();
            }
            try {
                return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }
}
