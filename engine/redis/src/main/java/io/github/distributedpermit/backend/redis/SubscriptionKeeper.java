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
 * Keeps the member subscribed to its notifications of grants, on the server that takes its claims. Every few seconds it checks
 * the {@link GrantSubscription} with a <em>probe</em>, a message that the member publishes to itself, and subscribes again if
 * the probe does not arrive. Confined to the thread of the {@link ConnectionManager}, except for {@link #problem}.
 *
 * <p>{@link ConnectionManager} calls it after each check of the connection. A member whose subscription fails still
 * gets its permits, but later: it repeats the claims of waiting calls (the re-check). {@link #problem} reports this to health.
 */
final class SubscriptionKeeper implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SubscriptionKeeper.class.getName());

    /** It is a problem if no probe has arrived for this time plus {@link #watch}. */
    private static final long UNCONFIRMED_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The same object for all connections; it is opened again for each. */
    private final GrantSubscription subscription;

    private final Connector connector;
    /** The time between two checks. A subscription that receives nothing is found by the next check. */
    private final Duration watch;
    /** Whether the member asks for a grace after a loss of state. */
    private final boolean graced;

    private final Runnable lost;
    /** For connections of the subscription that do not last. */
    private final ReconnectPause pause = new ReconnectPause();
    /** The connection for claims over which the last probe that arrived was published. Another one may lead to another server. */
    private @Nullable SharedConnection confirmedWith;
    /** Whether the server has answered the check of its eviction policy, which is repeated until then. */
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
     * Why waiting calls are granted late; empty if the subscription works. For any thread. The time between two checks is added
     * to the bound, because the last probe may be that old in normal operation.
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
     * Checks the subscription if a check is due, and subscribes again if it does not work. Throws if that fails. Blocks for a
     * few time-outs of {@link GrantSubscription}, and for two questions to the server of a second each, at most.
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
                            + "that wait are granted by polling, up to a second late");
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
     * Succeeds only if a probe has arrived: a subscription on another server than the one that takes the claims would receive no
     * notification of a grant.
     */
    private void subscribe(SharedConnection claims) throws InterruptedException, ExecutionException, TimeoutException {
        subscription.close();
        boolean early = pause.lost(System.nanoTime());
        // With a new connection for claims the subscription has usually been closed together with the old one.
        if (early && claims == confirmedWith) {
            throw PermitStoreException.passing(
                    "Redis closes the connection of the subscription soon after it is made", null);
        }
        subscription.open(connector.client(), claims.server(), lost, () -> connector.isMaster(claims));
        // This fails, for example, if a proxy in front of several servers leads the two connections to different ones.
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
     * Whether a probe arrives. If it can't even be published in time, the connection for claims may be broken, so that is
     * examined next.
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
