package io.github.distributedpermit.benchmark.peers;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Calls of a script that reads the clock and a hash and writes the hash, sent without waiting for each: what a server spends at
 * least on a permit that survives the crash of its holder. Not thread-safe.
 */
public final class ReadWriteCalls {

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final String sha1;
    private final List<RedisFuture<Object>> sent = new ArrayList<>();

    /** Loads the script into the server of the connection. */
    public ReadWriteCalls(StatefulRedisConnection<byte[], byte[]> connection) {
        this.connection = connection;
        this.sha1 =
                connection.sync().scriptLoad(Resources.text("read-write.lua").getBytes(StandardCharsets.UTF_8));
    }

    /** Sends a call and does not wait for the answer. */
    public void send(String key) {
        sent.add(connection
                .async()
                .evalsha(
                        sha1,
                        ScriptOutputType.INTEGER,
                        new byte[][] {key.getBytes(StandardCharsets.UTF_8)},
                        "argument".getBytes(StandardCharsets.UTF_8)));
    }

    /** Waits until all calls have been answered. Throws if one failed. */
    public void flush() {
        for (RedisFuture<Object> call : sent) {
            try {
                call.get(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while the floor was measured", e);
            } catch (Exception e) {
                throw new IllegalStateException("The server refused a call of the floor", e);
            }
        }
        sent.clear();
    }
}
