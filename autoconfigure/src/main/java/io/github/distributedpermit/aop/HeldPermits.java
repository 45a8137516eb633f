package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** The permits of one call, on top of those its thread holds already. For one thread. */
final class HeldPermits implements AutoCloseable {

    private static final Log log = LogFactory.getLog(HeldPermits.class);

    private final ThreadLocal<@Nullable HeldPermit> ofThread;
    private final @Nullable HeldPermit outer;
    private @Nullable HeldPermit newest;

    HeldPermits(ThreadLocal<@Nullable HeldPermit> ofThread) {
        this.ofThread = ofThread;
        this.outer = ofThread.get();
        this.newest = outer;
    }

    void add(Permit permit) {
        set(new HeldPermit(permit, newest));
    }

    /** How many permits of the key the thread holds. */
    int ofKey(String key) {
        int permits = 0;
        for (HeldPermit held = newest; held != null; held = held.before()) {
            if (held.permit().key().equals(key)) {
                permits += held.permit().permits();
            }
        }
        return permits;
    }

    /** Returns all, last first; never throws, so that what the method threw or returned reaches its caller. */
    @Override
    public void close() {
        while (newest != outer && newest != null) {
            Permit permit = newest.permit();
            set(newest.before());
            try {
                permit.release();
            } catch (RuntimeException | Error e) {
                log.error("A permit of '" + permit.name() + "' could not be returned; it lapses with its lease", e);
            }
        }
    }

    /** Nothing is left behind in the thread but an empty place, which costs less than to make one for each call. */
    private void set(@Nullable HeldPermit held) {
        newest = held;
        ofThread.set(held);
    }
}
