package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;

/**
 * Claims in the name of any member, over one connection: ten thousand members would need as many subscriptions. In this
 * package because it speaks the wire format, which is nobody else's business.
 */
public final class ClaimProbe {

    private static final Duration TOMBSTONE = Duration.ofSeconds(30);

    private final StatefulRedisConnection<byte[], byte[]> connection;

    /** Claims over the connection. */
    public ClaimProbe(StatefulRedisConnection<byte[], byte[]> connection) {
        this.connection = connection;
        connection.sync().scriptLoad(Script.CLAIMS.source());
    }

    /** Sends a claim and does not wait for the answer. */
    public void send(String member, Claim claim) {
        RedisKey key = RedisKey.of(RedisSettings.DEFAULT_PREFIX, claim.key());
        var unused = connection
                .async()
                .evalsha(
                        Script.CLAIMS.sha1(),
                        ScriptOutputType.VALUE,
                        key.names(),
                        RedisKey.bytes(member),
                        Wire.claim(claim, TOMBSTONE, false));
    }

    /** Waits until everything sent before has been answered. */
    public void flush() {
        connection.sync().ping();
    }
}
