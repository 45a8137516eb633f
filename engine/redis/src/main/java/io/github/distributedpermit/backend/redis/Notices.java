package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.HoldingListener;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What a member hears on its channel: grants, and its own probes. Anybody may publish anything there. */
final class Notices {

    private static final System.Logger LOG = System.getLogger(Notices.class.getName());

    private final RedisKeys keys;
    private final HoldingListener listener;
    private final AtomicBoolean warned = new AtomicBoolean();
    private volatile @Nullable Probe expected;

    Notices(RedisKeys keys, HoldingListener listener) {
        this.keys = keys;
        this.listener = listener;
    }

    void heard(byte[] notice) {
        if (Wire.isProbe(notice)) {
            Probe probe = expected;
            if (probe != null && probe.number() == Wire.probeNumber(notice)) {
                probe.back().countDown();
            }
        } else if (Wire.isGrant(notice)) {
            keys.userKey(Wire.grantedKey(notice)).ifPresent(key -> granted(key, notice));
        } else if (Wire.isNewerGrant(notice) && warned.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Notifications of newer instances have a format that this instance does not know. Waiting calls receive "
                            + "their permits by polling, up to half a second late, until this instance is updated");
        }
    }

    private void granted(String key, byte[] notice) {
        try {
            listener.granted(key, Wire.grantedHolding(notice));
        } catch (RuntimeException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A grant from Redis could not be applied; the next claim repairs it",
                    e);
        }
    }

    /** From now on this probe is awaited, and none before it. */
    void expect(Probe probe) {
        expected = probe;
    }

    /** A word to itself: whether it is heard shows whether the subscription works. */
    record Probe(long number, CountDownLatch back) {

        static Probe of(long number) {
            return new Probe(number, new CountDownLatch(1));
        }
    }
}
