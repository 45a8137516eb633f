package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

/** One synchronous command and nothing else: the lower bound for any limiter in Redis. It limits nothing. */
public final class RedisFloor implements Contender {

    private static final Object PASS = new Object();

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final @Nullable String script;

    private RedisFloor(int port, @Nullable String script) {
        this.client = RedisClient.create("redis://127.0.0.1:" + port);
        this.connection = client.connect();
        this.script = script;
    }

    /** {@code PING}. */
    public static Contender ping(int port) {
        return new RedisFloor(port, null);
    }

    /** {@code EVALSHA} of a script that does nothing. */
    public static Contender evalsha(int port) {
        return new RedisFloor(port, "nothing.lua");
    }

    /**
     * {@code EVALSHA} of a script that reads the clock and a hash and writes the hash: whatever survives the crash of a holder
     * has to do that.
     */
    public static Contender crashSafe(int port) {
        return new RedisFloor(port, "read-write.lua");
    }

    @Override
    public Gate gate(String key, int limit) {
        RedisCommands<String, String> commands = connection.sync();
        String sha = script == null ? null : commands.scriptLoad(Resources.text(script));
        String[] keys = {key};
        return new Gate() {
            @Override
            public Object enter() {
                if (sha != null) {
                    commands.<Object>evalsha(sha, ScriptOutputType.INTEGER, keys, "argument");
                } else {
                    commands.ping();
                }
                return PASS;
            }

            @Override
            public void leave(Object pass) {
                // one command is the whole unit
            }
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
