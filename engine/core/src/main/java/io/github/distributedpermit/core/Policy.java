package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;

/**
 * What one line goes by, in nanoseconds.
 *
 * @param limit the limit this member states
 * @param lease how long the store remembers a claim; with sessions, how long it remembers the member
 * @param commandTimeout how long an answer may take
 * @param storeTimeout how long calls wait for a store that does not answer
 * @param recheck how long calls wait before the line asks again
 * @param slice how long permits go round in this process while others wait
 * @param linger how long an idle permit may stay
 * @param window claims that may be in flight
 * @param maxWaiters calls that may wait
 * @param release whether giving back waits for the store
 */
record Policy(
        int limit,
        long lease,
        long commandTimeout,
        long storeTimeout,
        long recheck,
        long slice,
        long linger,
        int window,
        int maxWaiters,
        Release release) {

    /** A member stops trusting a lease this much before the store may end it; clocks do not run at equal rates. */
    static final int MARGIN = 20;

    /** For a line whose key nobody here uses any more: it only gives back. */
    static Policy stray(CoreSettings settings) {
        return new Policy(
                PermitDefinition.MAX_LIMIT,
                settings.lease().toNanos(),
                settings.commandTimeout().toNanos(),
                settings.storeTimeout().toNanos(),
                settings.recheck().toNanos(),
                0,
                0,
                settings.window(),
                settings.maxWaiters(),
                Release.ASYNC);
    }

    /** How long after a claim was sent its answer may be relied on. */
    long validity() {
        return lease - lease / MARGIN;
    }

    /** How often a holding is confirmed. */
    long renewal() {
        return lease / 3;
    }

    Duration leaseDuration() {
        return Duration.ofNanos(lease);
    }
}
