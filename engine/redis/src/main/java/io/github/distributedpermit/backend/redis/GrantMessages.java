package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages on the channel of a member: grants and expired leases, which it passes to the core, and the member's own echoes (messages to itself). Any client
 * of the server may publish there, so it ignores what it does not know. Thread-safe.
 *
 * <p>A message that is lost or ignored costs time only: the member finds its grant with the next re-check.
 */
final class GrantMessages {

    private static final System.Logger LOG = System.getLogger(GrantMessages.class.getName());

    /** Names only the keys in use, so that a grant of another key is ignored. */
    private final RedisKeys keys;
    /** The core, which orders the grant among the answers by sequence and version. */
    private final HoldingListener listener;

    /** The readable name of a member. */
    private final Function<String, CompletionStage<Optional<String>>> names;

    private final boolean claimsAgain;
    /** A format that is not supported is logged once, and not for each message. */
    private final AtomicBoolean warned = new AtomicBoolean();
    /** The echo that the member waits for; {@code null} before the first one. */
    private volatile @Nullable Echo expected;

    /**
     * Creates the reader of messages.
     *
     * @param names the readable name of a member, for operators; the stage never fails
     * @param claimsAgain whether the member claims again when it is notified of a grant, because no replica may have the grant
     *     yet; the answer to that claim counts
     */
    GrantMessages(
            RedisKeys keys,
            HoldingListener listener,
            Function<String, CompletionStage<Optional<String>>> names,
            boolean claimsAgain) {
        this.keys = keys;
        this.listener = listener;
        this.names = names;
        this.claimsAgain = claimsAgain;
    }

    /** An empty message, as {@link Connector} sends it, is none of these kinds. */
    void receive(byte[] message) {
        if (ClaimCodec.isEcho(message)) {
            Echo echo = expected;
            if (echo != null && echo.number() == ClaimCodec.readEchoNumber(message)) {
                echo.received().countDown();
            }
        } else if (ClaimCodec.isGrant(message)) {
            String encoded = ClaimCodec.readGrantedKey(message);
            keys.userKey(encoded).ifPresent(key -> applyGrant(key, encoded, message));
        } else if (ClaimCodec.isNewerGrant(message) && warned.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Notifications of newer instances have a format that this instance does not know. Waiting calls receive "
                            + "their permits by polling, up to half a second late, until this instance is updated");
        } else {
            ExpiryNotice.read(message).ifPresent(this::passOn);
        }
    }

    private void passOn(ExpiryNotice notice) {
        keys.userKey(notice.encodedKey())
                .ifPresent(key ->
                        names.apply(notice.member()).thenAccept(name -> listener.expired(key, notice.named(name))));
    }

    /** An exception must not reach Lettuce, which would pass it to its own handler; the subscription goes on. */
    private void applyGrant(String key, String encoded, byte[] message) {
        try {
            Holding holding = ClaimCodec.readGrantedHolding(message);
            // That an operator has taken all permits needs no replica, and a claim would get them again.
            if (claimsAgain && holding.permits() > 0) {
                listener.changed(key);
            } else {
                listener.granted(key, holding);
            }
        } catch (RuntimeException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Redis granted permits of the key '" + encoded + "', but applying the grant failed. The "
                            + "next claim of this key, within half a second, applies it; please report this as an error of "
                            + "distributed-permit",
                    e);
        }
    }

    /**
     * From now on the member waits for this echo, and ignores earlier ones. Called before the echo is published, so
     * that a quick answer is not ignored.
     */
    void expect(Echo echo) {
        expected = echo;
    }

    /**
     * A message of the member to itself: its arrival shows that the subscription works.
     *
     * @param number different for each echo of the member
     * @param received counted down when the echo has arrived
     */
    record Echo(long number, CountDownLatch received) {}
}
