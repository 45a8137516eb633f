package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.HoldingListener;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages on the channel of a member: grants, which it passes to the core, and the member's own probes. Any client
 * of the server may publish there, so it ignores what it does not know. Thread-safe.
 */
final class GrantMessages {

    private static final System.Logger LOG = System.getLogger(GrantMessages.class.getName());

    private final RedisKeys keys;
    private final HoldingListener listener;
    private final AtomicBoolean warned = new AtomicBoolean();
    private volatile @Nullable Probe expected;

    GrantMessages(RedisKeys keys, HoldingListener listener) {
        this.keys = keys;
        this.listener = listener;
    }

    void receive(byte[] message) {
        if (ClaimCodec.isProbe(message)) {
            Probe probe = expected;
            if (probe != null && probe.number() == ClaimCodec.readProbeNumber(message)) {
                probe.received().countDown();
            }
        } else if (ClaimCodec.isGrant(message)) {
            String encoded = ClaimCodec.readGrantedKey(message);
            keys.userKey(encoded).ifPresent(key -> applyGrant(key, encoded, message));
        } else if (ClaimCodec.isNewerGrant(message) && warned.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Notifications of newer instances have a format that this instance does not know. Waiting calls receive "
                            + "their permits by polling, up to half a second late, until this instance is updated");
        }
    }

    private void applyGrant(String key, String encoded, byte[] message) {
        try {
            listener.granted(key, ClaimCodec.readGrantedHolding(message));
        } catch (RuntimeException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Redis granted permits of the key '" + encoded + "', but applying the grant failed. The "
                            + "next claim of this key, within half a second, applies it; please report this as an error of "
                            + "distributed-permit",
                    e);
        }
    }

    /** From now on the member waits for this probe, and ignores earlier ones. */
    void expect(Probe probe) {
        expected = probe;
    }

    /** A message of the member to itself: its arrival shows that the subscription works. */
    record Probe(long number, CountDownLatch received) {

        static Probe of(long number) {
            return new Probe(number, new CountDownLatch(1));
        }
    }
}
