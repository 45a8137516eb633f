package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** The permits of one call. For one thread. */
final class HeldPermits implements AutoCloseable {

    private static final Log log = LogFactory.getLog(HeldPermits.class);

    private final NestedCalls nestedCalls;
    private final Deque<Permit> permits = new ArrayDeque<>(1);

    HeldPermits(NestedCalls nestedCalls) {
        this.nestedCalls = nestedCalls;
    }

    void add(Permit permit) {
        permits.push(permit);
        nestedCalls.entered(permit);
    }

    /** Returns all, last first; never throws, so that what the method threw or returned reaches its caller. */
    @Override
    public void close() {
        while (!permits.isEmpty()) {
            Permit permit = permits.pop();
            nestedCalls.left(permit);
            try {
                permit.release();
            } catch (RuntimeException | Error e) {
                log.error("A permit of '" + permit.name() + "' could not be returned; it lapses with its lease", e);
            }
        }
    }
}
