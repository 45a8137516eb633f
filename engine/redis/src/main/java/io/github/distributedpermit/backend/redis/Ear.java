package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.Notices.Probe;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The member's one subscription, on a connection of its own. Confined to the thread that looks after it. */
final class Ear implements AutoCloseable {

    private final byte[] channel;
    private final Notices notices;
    private volatile @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection;
    private final Duration patience;
    private long probes;

    Ear(byte[] channel, Notices notices, Duration patience) {
        this.patience = patience;
        this.channel = channel;
        this.notices = notices;
    }

    byte[] channel() {
        return channel;
    }

    /** Whether it has subscribed and is connected. */
    boolean isOpen() {
        StatefulRedisPubSubConnection<byte[], byte[]> open = connection;
        return open != null && open.isOpen();
    }

    /**
     * Subscribes on the server that takes the claims, or anywhere in a cluster; blocks until the server has confirmed it.
     *
     * @param lost runs when the connection is lost
     * @param counts whether what the server says counts; asked for each message, on any thread
     */
    void open(OwnClient client, @Nullable RedisURI server, Runnable lost, BooleanSupplier counts)
            throws InterruptedException, ExecutionException, TimeoutException {
        StatefulRedisPubSubConnection<byte[], byte[]> opened = within(
                server == null ? client.clusterSubscriber() : client.subscriber(server, ByteArrayCodec.INSTANCE));
        connection = opened;
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(byte[] from, byte[] notice) {
                // what comes on a connection that was given up is from a server that may not be the master any more;
                // that another one is may be known before this one is given up
                if (connection == opened && counts.getAsBoolean() && Arrays.equals(from, channel)) {
                    notices.heard(notice);
                }
            }
        });
        opened.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
                if (connection == opened) {
                    lost.run();
                }
            }
        });
        try {
            within(opened.async().subscribe(channel));
        } catch (InterruptedException | ExecutionException | TimeoutException | RuntimeException e) {
            close();
            throw e;
        }
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
        return probe.back().await(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    private <T> T within(Future<T> answer) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
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
