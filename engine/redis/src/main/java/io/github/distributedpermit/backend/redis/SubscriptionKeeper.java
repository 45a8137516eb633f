package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the member subscribed on the server that takes its claims: checks the {@link GrantSubscription} every few seconds
 * with a message to itself, and subscribes again when it was lost. Confined to the thread of the {@link ConnectionManager},
 * except for {@link #problem}.
 *
 * <p>{@link ConnectionManager} calls it after each check of the connection. A member whose subscription fails still
 * gets its permits, but only by the re-check; {@link #problem} reports this to health.
 */
final class SubscriptionKeeper implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SubscriptionKeeper.class.getName());

    /** A subscription that was not confirmed for this time and the time between two checks is a problem. */
    private static final long UNCONFIRMED_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The same object for all connections; it is opened again for each. */
    private final GrantSubscription subscription;

    private final Connector connector;
    /** A broken subscription is found by the next of these checks. */
    private final Duration watch;
    /** Whether the member asks for a grace after a loss of state. */
    private final boolean graced;

    private final Runnable lost;
    /** For connections of the subscription that do not last. */
    private final ReconnectPause pause = new ReconnectPause();
    /**
     * The connection for claims with which a probe arrived last. With another one the server may be another one too.
     */
    private @Nullable SharedConnection confirmedWith;
    /** The check is repeated until the server has answered it. */
    private boolean policyChecked;
    /** When a probe arrived last, on the clock of {@link System#nanoTime}; at first the start. */
    private volatile long confirmedAt = System.nanoTime();

    /**
     * Creates the keeper; nothing is subscribed yet.
     *
     * @param watch the time between two checks
     * @param lost runs when the connection of the subscription is lost, on any thread
     */
    SubscriptionKeeper(
            GrantSubscription subscription, Connector connector, Duration watch, boolean graced, Runnable lost) {
        this.subscription = subscription;
        this.connector = connector;
        this.watch = watch;
        this.graced = graced;
        this.lost = lost;
    }

    /**
     * What waiting calls suffer from; empty if the subscription works. For any thread. One interval between two
     * checks is added, because the time of the last one may be that old in normal operation.
     */
    Optional<String> problem() {
        long unconfirmed = nanosSinceConfirmed();
        return unconfirmed <= UNCONFIRMED_NANOS + watch.toNanos()
                ? Optional.empty()
                : Optional.of("no notifications from Redis for " + TimeUnit.NANOSECONDS.toSeconds(unconfirmed)
                        + " s: permits are granted late");
    }

    /** Whether the present subscription has lasted for so long that its loss needs no pause. */
    boolean hasLasted(long now) {
        return pause.hasLasted(now);
    }

    private long nanosSinceConfirmed() {
        return System.nanoTime() - confirmedAt;
    }

    /**
     * Checks the subscription if a check is due, and subscribes again if it does not work. Throws if that fails.
     * Blocks for a few time-outs at most.
     */
    void keepSubscribed(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        boolean confirmed = claims == confirmedWith && subscription.isOpen();
        if (confirmed && nanosSinceConfirmed() < watch.toNanos()) {
            return;
        }
        if (subscription.isOpen() && !receivesMessages(claims)) {
            LOG.log(
                    INFO,
                    "The subscription for grants from Redis receives no messages. Subscribing again; until then calls "
                            + "that wait are granted by polling, up to half a second late");
            subscription.close();
        }
        if (!subscription.isOpen()) {
            subscribe(claims);
        } else if (!policyChecked) {
            policyChecked = EvictionPolicy.checkPolicy(claims);
        }
        confirmedWith = claims;
        confirmedAt = System.nanoTime();
    }

    /**
     * Succeeds only if a probe has arrived: a subscription on another server than that of the claims would receive no
     * grant.
     */
    private void subscribe(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        subscription.close();
        boolean early = pause.lost(System.nanoTime());
        if (early && claims == confirmedWith) { // with other claims, this class closed the subscription itself
            throw PermitStoreException.passing(
                    "Redis closes the connection of the subscription soon after it is made", null);
        }
        subscription.open(connector.client(), claims.server(), lost, () -> connector.isMaster(claims));
        // For example a proxy in front of several servers leads the two connections to different ones.
        if (!receivesMessages(claims)) {
            subscription.close();
            throw PermitStoreException.passing(
                    "Redis can't be reached: the subscription is not on the server that takes the claims", null);
        }
        pause.connected(System.nanoTime());
        if (claims != confirmedWith) {
            policyChecked = EvictionPolicy.checkPolicy(claims);
            if (graced) {
                ServerEpoch.check(claims);
            }
        }
    }

    /**
     * A probe that is not even published in time says something about the connection of the claims, which is then
     * examined.
     */
    private boolean receivesMessages(SharedConnection claims)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return subscription.receivesProbe(claims);
        } catch (TimeoutException e) {
            claims.markSuspect();
            throw e;
        }
    }

    @Override
    public void close() {
        subscription.close();
    }
}
