package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's semaphores, with its default settings, on a standalone Redis or on a Redis Cluster. */
public final class RedissonContender implements Contender {

    private static final Object PASS = new Object();

    private final RedissonClient client;
    private final long leaseMillis;

    private RedissonContender(List<Integer> ports, long leaseMillis) {
        Config config = new Config();
        if (ports.size() == 1) {
            config.useSingleServer().setAddress(address(ports.get(0)));
        } else {
            config.useClusterServers()
                    .addNodeAddress(
                            ports.stream().map(RedissonContender::address).toArray(String[]::new));
        }
        this.client = Redisson.create(config);
        this.leaseMillis = leaseMillis;
    }

    private static String address(int port) {
        return "redis://127.0.0.1:" + port;
    }

    /** {@code RSemaphore}, which forgets the permits of a holder that dies for ever. */
    public static Contender semaphore(List<Integer> ports) {
        return new RedissonContender(ports, 0);
    }

    /** {@code RPermitExpirableSemaphore}, whose permits come back after their lease: the like-for-like peer. */
    public static Contender expirable(List<Integer> ports, long leaseMillis) {
        return new RedissonContender(ports, leaseMillis);
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
