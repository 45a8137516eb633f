package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import java.util.Deque;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** The permits of one call, on top of those its thread holds already. For one thread. */
final class HeldPermits implements AutoCloseable {

    private static final Log log = LogFactory.getLog(HeldPermits.class);

    private final Deque<Permit> ofThread;
    private final int outer;

    HeldPermits(Deque<Permit> ofThread) {
        this.ofThread = ofThread;
        this.outer = ofThread.size();
    }

    /** Takes charge of the permit; one that it can't note goes back at once. */
    void add(Permit permit) {
        try {
            ofThread.push(permit);
        } catch (RuntimeException | Error e) {
            permit.release();
            throw e;
        }
    }

    /** How many permits of the key the thread holds. */
    int ofKey(String key) {
        int permits = 0;
        if (!ofThread.isEmpty()) {
            for (Permit held : ofThread) {
                permits += held.key().equals(key) ? held.permits() : 0;
            }
        }
        return permits;
    }

    /** Returns all, last first; never throws, so that what the method threw or returned reaches its caller. */
    @Override
    public void close() {
        while (ofThread.size() > outer) {
            Permit permit = ofThread.pop();
            try {
                permit.release();
            } catch (RuntimeException | Error e) {
                log.error("A permit of '" + permit.name() + "' could not be returned; it lapses with its lease", e);
            }
        }
    }
}
