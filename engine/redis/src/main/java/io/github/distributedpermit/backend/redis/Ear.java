package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.Notices.Probe;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The member's one subscription, on a connection of its own. Confined to the thread that tends it. */
final class Ear implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final byte[] channel;
    private final Notices notices;
    private @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection;
    private long probes;

    Ear(byte[] channel, Notices notices) {
        this.channel = channel;
        this.notices = notices;
    }

    boolean isOpen() {
        return connection != null;
    }

    /**
     * Subscribes; blocks until the server has confirmed it. Never on a replica, whose subscribers the scripts can't count.
     *
     * @param resubscribed called on a thread of the client each time it has connected again and subscribed by itself
     */
    void open(LettuceConnectionFactory factory, Runnable resubscribed)
            throws InterruptedException, ExecutionException, TimeoutException {
        StatefulRedisPubSubConnection<byte[], byte[]> opened = connect(factory.getRequiredNativeClient());
        connection = opened;
        AtomicBoolean isOpen = new AtomicBoolean();
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(byte[] from, byte[] notice) {
                if (Arrays.equals(from, channel)) {
                    notices.heard(notice);
                }
            }

            @Override
            public void subscribed(byte[] to, long count) {
                if (isOpen.get()) {
                    resubscribed.run();
                }
            }
        });
        try {
            within(opened.async().subscribe(channel));
            isOpen.set(true);
        } catch (InterruptedException | ExecutionException | TimeoutException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private static StatefulRedisPubSubConnection<byte[], byte[]> connect(AbstractRedisClient client) {
        return client instanceof RedisClusterClient cluster
                ? cluster.connectPubSub(ByteArrayCodec.INSTANCE)
                : ((RedisClient) client).connectPubSub(ByteArrayCodec.INSTANCE);
    }

    /**
     * Whether a message comes back that is published on the connection of the claims: whether the subscription works, and is
     * on the server that takes the claims. Throws if it can't be published.
     */
    boolean hears(Attachment via) throws InterruptedException, ExecutionException, TimeoutException {
        Probe probe = Probe.of(++probes);
        notices.expect(probe);
        long reached = within(via.commands().publish(channel, Wire.probe(probe.number())));
        if (reached == 0 && !via.isCluster()) {
            return false;
        }
        return probe.back().await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static <T> T within(Future<T> answer) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } finally {
            answer.cancel(false);
        }
    }

    /** Does not wait for the server. */
    @Override
    public void close() {
        StatefulRedisPubSubConnection<byte[], byte[]> open = connection;
        connection = null;
        if (open != null) {
            open.closeAsync();
        }
    }
}
