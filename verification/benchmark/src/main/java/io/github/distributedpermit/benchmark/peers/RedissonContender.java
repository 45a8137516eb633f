package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's semaphores, with its default settings. */
public final class RedissonContender implements Contender {

    private static final Object PASS = new Object();

    private final RedissonClient client;
    private final long leaseMillis;

    private RedissonContender(int port, long leaseMillis) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        this.client = Redisson.create(config);
        this.leaseMillis = leaseMillis;
    }

    /** {@code RSemaphore}, which forgets the permits of a holder that dies for ever. */
    public static Contender semaphore(int port) {
        return new RedissonContender(port, 0);
    }

    /** {@code RPermitExpirableSemaphore}, whose permits come back after their lease: the like-for-like peer. */
    public static Contender expirable(int port, long leaseMillis) {
        return new RedissonContender(port, leaseMillis);
    }

    @Override
    public Gate gate(String key, int limit) {
        return leaseMillis == 0 ? plain(key, limit) : expirable(key, limit);
    }

    private Gate plain(String key, int limit) {
        RSemaphore semaphore = client.getSemaphore("redisson:" + key);
        semaphore.trySetPermits(limit);
        return new Gate() {
            @Override
            public Object enter() throws InterruptedException {
                semaphore.acquire();
                return PASS;
            }

            @Override
            public void leave(Object pass) {
                semaphore.release();
            }

            @Override
            public CompletionStage<Object> enterLater() {
                return semaphore.acquireAsync().thenApply(nothing -> PASS);
            }

            @Override
            public void leaveLater(Object pass) {
                semaphore.releaseAsync();
            }
        };
    }

    private Gate expirable(String key, int limit) {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore("redisson-expirable:" + key);
        semaphore.trySetPermits(limit);
        return new Gate() {
            @Override
            public Object enter() throws InterruptedException {
                return semaphore.acquire(leaseMillis, TimeUnit.MILLISECONDS);
            }

            @Override
            public void leave(Object pass) {
                semaphore.release((String) pass);
            }
        };
    }

    @Override
    public void close() {
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }
}
