package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.GrantMessages.Probe;
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

/**
 * The subscription of a member to its channel, on a connection of its own: Redis notifies the member there of grants.
 * Confined to the thread of the {@link ConnectionManager}; messages arrive on a thread of Lettuce's.
 *
 * <p>{@link SubscriptionKeeper} opens and checks it. Redis has no acknowledgement for messages, so that a
 * subscription which looks open may receive nothing; therefore it is checked with probes.
 */
final class GrantSubscription implements AutoCloseable {

    private final byte[] channel;
    private final GrantMessages messages;
    private final Duration timeout;
    /** Listeners of a connection compare it, so that the events of one that was given up have no effect. */
    private volatile @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection;
    /** The number of the last probe. */
    private long probes;

    /**
     * Creates the subscription, which is not open yet.
     *
     * @param timeout bounds each step of {@link #open} and {@link #receivesProbe}
     */
    GrantSubscription(byte[] channel, GrantMessages messages, Duration timeout) {
        this.channel = channel;
        this.messages = messages;
        this.timeout = timeout;
    }

    /** Whether it is subscribed and connected. Says nothing about whether messages arrive. */
    boolean isOpen() {
        StatefulRedisPubSubConnection<byte[], byte[]> open = connection;
        return open != null && open.isOpen();
    }

    /**
     * Subscribes on the server that takes the claims, or anywhere in a cluster; blocks until the server has confirmed it.
     *
     * @param lost runs when the connection is lost
     * @param isMaster whether messages of the server count; called for each message, on any thread
     */
    void open(OwnClient client, @Nullable RedisURI server, Runnable lost, BooleanSupplier isMaster)
            throws InterruptedException, ExecutionException, TimeoutException {
        StatefulRedisPubSubConnection<byte[], byte[]> opened = within(
                server == null ? client.subscribeToCluster() : client.openPubSub(server, ByteArrayCodec.INSTANCE));
        connection = opened;
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(byte[] from, byte[] message) {
                // A connection that was given up may lead to a former master, and another master may be known before
                // the connection is given up. Grants of a former master do not stand.
                if (connection == opened && isMaster.getAsBoolean() && Arrays.equals(from, channel)) {
                    messages.receive(message);
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
            // Otherwise a connection without a subscription would count as open.
            close();
            throw e;
        }
    }

    /**
     * Publishes a message to the member itself on the connection of the claims, and returns whether it arrives. It
     * shows that the subscription works and is on the server that takes the claims. Throws if the message can't be
     * published. In a cluster the number of receivers covers one node only, so that it proves nothing there.
     */
    boolean receivesProbe(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        Probe probe = Probe.of(++probes);
        messages.expect(probe);
        long reached = within(claims.commands().publish(channel, ClaimCodec.packProbe(probe.number())));
        if (reached == 0 && !claims.isCluster()) {
            return false;
        }
        return probe.received().await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A connection that is made after the time-out is closed, see {@link OwnClient#openPubSub}. */
    private <T> T within(Future<T> answer) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
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
