package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;

import io.github.distributedpermit.backend.redis.GrantMessages.Echo;
import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The subscription of a member to its channel, on a connection of its own: Redis notifies the member there of grants. Redis does
 * not acknowledge messages, so that a subscription which looks open may receive nothing, or be on another server than the one
 * that takes the claims. Therefore it is checked after each new connection and then periodically: the member publishes a message
 * to itself on the connection of the claims. Confined to the thread of the {@link ConnectionManager}, except {@link #problem};
 * messages arrive on a thread of Lettuce's.
 */
final class GrantSubscription implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(GrantSubscription.class.getName());

    /** It is a problem if no message of the member to itself has arrived for this time plus the time between two checks. */
    private static final long UNCONFIRMED_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final byte[] channel;
    private final GrantMessages messages;
    private final Connector connector;
    private final RedisSettings settings;
    private final Runnable lost;
    /** For connections that do not last. */
    private final ReconnectPause pause = new ReconnectPause();
    /** Listeners of a connection compare it, so that the events of one that was given up have no effect. */
    private volatile @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection;
    /** The connection for claims with which the subscription was confirmed. Another one may lead to another server. */
    private @Nullable SharedConnection confirmedWith;
    /** When it was confirmed last, on the clock of {@link System#nanoTime}; at first the start. */
    private volatile long confirmedAt = System.nanoTime();
    /** Whether the {@link ServerCheck} has shown what it looks for; it is repeated until then. */
    private boolean serverChecked;
    /** The number of the last message of the member to itself. */
    private long echoes;

    /**
     * Nothing is subscribed yet.
     *
     * @param lost runs when the connection is lost, on any thread
     */
    GrantSubscription(
            byte[] channel, GrantMessages messages, Connector connector, RedisSettings settings, Runnable lost) {
        this.channel = channel;
        this.messages = messages;
        this.connector = connector;
        this.settings = settings;
        this.lost = lost;
    }

    /**
     * Why waiting calls are granted late; empty if the subscription works. The time between two checks is added to the bound,
     * because the last confirmation may be that old in normal operation.
     */
    Optional<String> problem() {
        long unconfirmed = System.nanoTime() - confirmedAt;
        return unconfirmed <= UNCONFIRMED_NANOS + settings.watch().toNanos()
                ? Optional.empty()
                : Optional.of("no notifications from Redis since the last check that worked, "
                        + TimeUnit.NANOSECONDS.toSeconds(unconfirmed) + " s ago");
    }

    /** Whether the present subscription has lasted for so long that its loss needs no pause. */
    boolean hasLasted(long now) {
        return pause.hasLasted(now);
    }

    /**
     * Checks the subscription if a check is due, and subscribes again if it does not work. Throws if that fails. Blocks for a
     * few time-outs at most.
     */
    void keepSubscribed(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        boolean confirmed = claims == confirmedWith && isOpen();
        if (confirmed && System.nanoTime() - confirmedAt < settings.watch().toNanos()) {
            return;
        }
        if (isOpen() && !receivesEcho(claims)) {
            LOG.log(
                    INFO,
                    "The subscription for grants from Redis receives no messages. Subscribing again; until then calls "
                            + "that wait are granted by polling, up to a second late");
            close();
        }
        if (!isOpen()) {
            subscribe(claims);
        } else if (!serverChecked) {
            serverChecked = ServerCheck.check(claims, settings.grace());
        }
        confirmedWith = claims;
        confirmedAt = System.nanoTime();
    }

    private boolean isOpen() {
        StatefulRedisPubSubConnection<byte[], byte[]> open = connection;
        return open != null && open.isOpen();
    }

    private void subscribe(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        close();
        boolean early = pause.lost(System.nanoTime());
        // With a new connection for claims the subscription has usually been closed together with the old one.
        if (early && claims == confirmedWith) {
            throw PermitStoreException.passing(
                    "Redis closes the connection of the subscription soon after it is made", null);
        }
        open(claims);
        // This fails, for example, if a proxy in front of several servers leads the two connections to different ones.
        if (!receivesEcho(claims)) {
            close();
            throw PermitStoreException.passing(
                    "Redis can't be reached: the subscription is not on the server that takes the claims", null);
        }
        pause.connected(System.nanoTime());
        if (claims != confirmedWith) {
            serverChecked = ServerCheck.check(claims, settings.grace());
        }
    }

    /** Subscribes on the server that takes the claims, or anywhere in a cluster; blocks until the server has confirmed it. */
    private void open(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        long timeout = settings.commandTimeout().toMillis();
        OwnClient client = connector.client();
        RedisURI server = claims.server();
        StatefulRedisPubSubConnection<byte[], byte[]> opened = Connector.within(
                server == null ? client.subscribeToCluster() : client.openPubSub(server, ByteArrayCodec.INSTANCE),
                timeout);
        connection = opened;
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(byte[] from, byte[] message) {
                // A connection that was given up may lead to a former master, and another master may be known before
                // the connection is given up. Grants of a former master do not stand.
                if (connection == opened && connector.isMaster(claims) && Arrays.equals(from, channel)) {
                    messages.receive(message);
                }
            }
        });
        SharedConnection.onLoss(opened, () -> {
            if (connection == opened) {
                lost.run();
            }
        });
        boolean subscribed = false;
        try {
            Connector.within(opened.async().subscribe(channel), timeout);
            subscribed = true;
        } finally {
            if (!subscribed) {
                close(); // otherwise a connection without a subscription would count as open
            }
        }
    }

    /**
     * Whether a message of the member to itself arrives. In a cluster the number of receivers covers one node only, so that it
     * proves nothing there. If the message can't be published in time, the connection for claims may be broken, so that it is
     * examined next.
     */
    private boolean receivesEcho(SharedConnection claims)
            throws InterruptedException, ExecutionException, TimeoutException {
        Echo echo = new Echo(++echoes, new CountDownLatch(1));
        messages.expect(echo);
        long timeout = settings.commandTimeout().toMillis();
        try {
            long reached =
                    Connector.within(claims.commands().publish(channel, ClaimCodec.packEcho(echo.number())), timeout);
            return (reached != 0 || claims.isCluster()) && echo.received().await(timeout, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            claims.markSuspect();
            throw e;
        }
    }

    /** Does not wait for the server. */
    @Override
    public void close() {
        StatefulRedisPubSubConnection<byte[], byte[]> open = connection;
        connection = null;
        if (open != null && open.isOpen()) { // it is not if the client has been closed
            open.closeAsync();
        }
    }
}
