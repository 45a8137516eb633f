package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.Times;

/**
 * How long idle permits of one key stay with this process: for as long as the settings say, and for a second in a store that
 * has no other member, from which they could be withheld. Guarded by the lock of the {@link KeyQueue}.
 */
final class Lingering {

    /** How long permits stay while this member is the only one, in nanoseconds. */
    private static final long ALONE = 1_000_000_000L;

    private final KeyQueueHost host;
    private Policy policy;
    private long until = Times.NEVER;
    private boolean whileAlone;

    Lingering(Policy policy, KeyQueueHost host) {
        this.policy = policy;
        this.host = host;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** Whether idle permits may still stay. */
    boolean lasts(long now) {
        return now < until && until != Times.NEVER && (!whileAlone || isAlone());
    }

    /** Permits become idle now, if they are not already. */
    void begin(long now) {
        if (until == Times.NEVER) {
            begin(now, isAlone());
        }
    }

    private void begin(long now, boolean alone) {
        long time = alone ? Math.max(ALONE, policy.linger()) : policy.linger();
        if (time > 0) {
            until = now + time;
            whileAlone = alone;
        }
    }

    /** No permits are idle, or they are to be returned. */
    void end() {
        until = Times.NEVER;
    }

    /** Until when idle permits may stay; {@link Times#NEVER} if they may not. */
    long until() {
        return until;
    }

    /**
     * The permit of this grant becomes idle. While this member is alone, the time counts from the start of the grant, which
     * saves reading the clock.
     */
    void beginAfter(Grant grant) {
        if (until == Times.NEVER) {
            boolean alone = isAlone();
            begin(alone ? grant.grantedAt : host.now(), alone);
        }
    }

    /** With {@code release: sync}, the store has to be up to date whenever a call has ended, so permits do not stay. */
    private boolean isAlone() {
        return host.isAlone() && policy.release() == Release.ASYNC;
    }
}
