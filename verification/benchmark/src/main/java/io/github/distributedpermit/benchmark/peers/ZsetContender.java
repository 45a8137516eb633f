package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The design that books and blogs give for Redis: a sorted set of holders, a counter, and a list on which waiters block
 * with {@code BRPOP}, each on a connection of its own.
 */
public final class ZsetContender implements Contender {

    private static final String LEASE_MILLIS = "30000";
    private static final double BLOCK_SECONDS = 1;

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> shared;
    private final ConcurrentLinkedQueue<StatefulRedisConnection<String, String>> idle = new ConcurrentLinkedQueue<>();
    private final String acquire;
    private final String release;

    /** Connects. */
    public ZsetContender(int port) {
        client = RedisClient.create("redis://127.0.0.1:" + port);
        shared = client.connect();
        acquire = shared.sync().scriptLoad(Resources.text("zset-acquire.lua"));
        release = shared.sync().scriptLoad(Resources.text("zset-release.lua"));
    }

    @Override
    public Gate gate(String key, int limit) {
        String[] keys = {"{zset:" + key + "}:holders", "{zset:" + key + "}:counter", "{zset:" + key + "}:wake"};
        return new Gate() {
            @Override
            public Object enter() throws InterruptedException {
                String id = UUID.randomUUID().toString();
                while (!admitted(keys, id, limit)) {
                    block(keys[2]);
                }
                return id;
            }

            @Override
            public void leave(Object pass) {
                shared.sync().evalsha(release, ScriptOutputType.INTEGER, keys, (String) pass, Integer.toString(limit));
            }
        };
    }

    private boolean admitted(String[] keys, String id, int limit) {
        Long admitted = shared.sync()
                .evalsha(
                        acquire,
                        ScriptOutputType.INTEGER,
                        keys,
                        id,
                        Long.toString(System.currentTimeMillis()),
                        LEASE_MILLIS,
                        Integer.toString(limit));
        return admitted != null && admitted > 0;
    }

    private void block(String list) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        StatefulRedisConnection<String, String> own = idle.poll();
        if (own == null) {
            own = client.connect();
        }
        own.sync().brpop(BLOCK_SECONDS, list);
        idle.add(own);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
