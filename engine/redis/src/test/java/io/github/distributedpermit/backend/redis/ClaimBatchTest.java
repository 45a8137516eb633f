package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** An error with one answer of a batch ends that claim, and keeps no other from its answer. */
class ClaimBatchTest {

    /** Permits, limit, sequence, version, re-check, flags and epoch. */
    private static final int VIEW_LENGTH = 37;

    private final ClaimCall first = call("first");
    private final ClaimCall second = call("second");
    private final ClaimBatch batch = new ClaimBatch(pipeline());

    @Test
    void claimWhoseAnswerCannotBeAppliedFailsAndTheOthersAreAnswered() {
        batch.fill(List.of(first, second), 0);

        batch.completeClaims(views(), null);

        assertThat(first).isCompletedExceptionally();
        assertThat(second).isCompletedWithValueMatching(answer -> answer.permits() == 1);
    }

    @Test
    void logThatFailsKeepsNoClaimFromItsAnswer() {
        Logger log = Logger.getLogger(ClaimBatch.class.getName());
        Handler failing = new FailingHandler();
        log.addHandler(failing);
        try {
            batch.fill(List.of(first, second), 0);

            batch.completeClaims(views(), null);
        } finally {
            log.removeHandler(failing);
        }

        assertThat(first).isCompletedExceptionally();
        assertThat(second).isCompletedWithValueMatching(answer -> answer.permits() == 1);
    }

    private static ClaimCall call(String key) {
        return new ClaimCall(Claim.of(key, 1, Duration.ofMinutes(1)).wanted(1).queued(1), RedisKey.of("permits", key));
    }

    /** One permit for each claim. */
    private static byte[] views() {
        ByteBuffer out = ByteBuffer.allocate(2 * VIEW_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 2; i++) {
            out.putInt(1)
                    .putInt(1)
                    .putDouble(1)
                    .putDouble(1)
                    .putDouble(-1)
                    .put((byte) 0)
                    .putInt(1);
        }
        return out.array();
    }

    private static final class FailingHandler extends Handler {

        @Override
        public void publish(LogRecord entry) {
            throw new StackOverflowError("made by the test");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** The clock fails when the first answer is applied. Nothing is sent over the connection. */
    @SuppressWarnings("unchecked")
    private static ClaimPipeline pipeline() {
        var unused = (StatefulRedisConnection<byte[], byte[]>) Proxy.newProxyInstance(
                StatefulRedisConnection.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, arguments) -> null);
        AtomicBoolean fails = new AtomicBoolean(true);
        KnownEpochs epochs = new KnownEpochs(() -> {
            if (fails.getAndSet(false)) {
                throw new StackOverflowError("made by the test");
            }
            return System.nanoTime();
        });
        return new ClaimPipeline(
                new SharedConnection(
                        unused, RedisURI.create("127.0.0.1", 1), new UnresponsiveNodes(System::nanoTime), 0),
                RedisKey.bytes("member"),
                TestMember.SETTINGS,
                null,
                epochs,
                new AtomicLong(-1),
                System::nanoTime);
    }
}
