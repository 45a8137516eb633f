package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.backend.redis.RedisPermitBackend;
import io.github.distributedpermit.backend.redis.RedisSettings;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.KeyEncoding;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Claims in the name of any member, over one connection, by the scripts of the library: ten thousand real members would need
 * twenty thousand connections. It packs claims by itself, so that the library needs no door for a benchmark; a script of
 * another version of the format refuses them with an error. Not thread-safe.
 */
public final class ScriptClaims {

    private static final int CLAIM_LENGTH = 65;
    private static final int TOMBSTONE_MILLIS = 30_000;

    /** A new server waits for no member, and the longest lease is not known. */
    private static final byte[] GRACE = new byte[2 * Double.BYTES];

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final String sha1;
    private final boolean grace;
    private volatile @Nullable Throwable failure;

    /**
     * Loads the script into the server of the connection.
     *
     * @param grace whether the members ask for a grace after a loss of state, which they do by default
     */
    public ScriptClaims(StatefulRedisConnection<byte[], byte[]> connection, boolean grace) {
        this.connection = connection;
        this.grace = grace;
        this.sha1 = connection.sync().scriptLoad(bytes(script()));
    }

    /** Assembled as the library does it. */
    private static String script() {
        return "local function claim_slow_path(...)\n" + file("common") + file("serve") + file("lineage")
                + file("claim") + "end\nlocal function claim_in_queue(...)\n" + file("queued") + "end\n"
                + file("claims");
    }

    private static String file(String name) {
        try (InputStream in = RedisPermitBackend.class.getResourceAsStream(name + ".lua")) {
            if (in == null) {
                throw new IllegalStateException("distributed-permit-redis has no " + name + ".lua");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a claim and does not wait for the answer. */
    public void send(String member, Claim claim) {
        String stem = RedisSettings.DEFAULT_PREFIX + ":{" + KeyEncoding.encode(claim.key()) + "}:";
        Stream<String> ofKey =
                Stream.of("state", "line", "leases", "tombs", "override").map(stem::concat);
        Stream<String> lineage = grace ? Stream.of(RedisSettings.DEFAULT_PREFIX + ":lineage") : Stream.of();
        byte[][] names = Stream.concat(ofKey, lineage).map(ScriptClaims::bytes).toArray(byte[][]::new);
        byte[][] arguments = grace
                ? new byte[][] {bytes(member), packed(claim), GRACE}
                : new byte[][] {bytes(member), packed(claim)};
        connection
                .async()
                .<byte[]>evalsha(sha1, ScriptOutputType.VALUE, names, arguments)
                .whenComplete((views, refused) -> {
                    if (refused != null) {
                        failure = refused;
                    }
                });
    }

    private static byte[] packed(Claim claim) {
        return ByteBuffer.allocate(CLAIM_LENGTH)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(claim.counts().limit())
                .putInt(claim.counts().held())
                .putInt(claim.counts().wanted())
                .putInt(claim.head().weight())
                .put((byte) (claim.head().queues() ? 1 : 0))
                .putDouble(claim.sequence())
                .putDouble(micros(claim.head().waited()))
                .putDouble(micros(claim.lease()))
                .putInt(TOMBSTONE_MILLIS)
                .putInt(claim.reclaim().validlyHeld())
                .putInt((int) claim.reclaim().knownEpoch())
                .putInt(claim.shown().waitingBeyondWanted())
                .putDouble(claim.reclaim().knownVersion())
                .array();
    }

    private static double micros(Duration duration) {
        return TimeUnit.MICROSECONDS.convert(duration);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Waits until everything sent before has been answered. Throws if a claim failed. */
    public void flush() {
        connection.sync().ping();
        Throwable refused = failure;
        if (refused != null) {
            throw new IllegalStateException("The script refused a claim of the benchmark", refused);
        }
    }
}
