package io.github.distributedpermit.core;

/**
 * Whether permits that nobody uses stay with this process: for as long as the settings say, and for a second in a store
 * that has no other member, since nothing is withheld from anybody. Guarded by the lock of the line.
 */
final class Lingering {

    private static final long NEVER = LineState.NEVER;
    private static final long ALONE = 1_000_000_000L;

    private final LineHost host;
    private Policy policy;
    private long until = NEVER;
    private boolean whileAlone;

    Lingering(Policy policy, LineHost host) {
        this.policy = policy;
        this.host = host;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** Whether idle permits may stay. */
    boolean lasts(long now) {
        return now < until && until != NEVER && (!whileAlone || isAlone());
    }

    /** Idle permits may stay from now on, as far as the settings and the others let them. */
    void begin(long now) {
        if (until == NEVER) {
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

    void end() {
        until = NEVER;
    }

    /** Until when idle permits may stay; {@link LineState#NEVER} if they may not. */
    long until() {
        return until;
    }

    /** A call that began then has ended: goes by its beginning, where reading the clock would cost more than it is worth. */
    void beginAfter(Grant grant) {
        if (until == NEVER) {
            boolean alone = isAlone();
            begin(alone ? grant.grantedAt : host.now(), alone);
        }
    }

    /** With {@code release: sync} the store is up to date whenever a call has ended. */
    private boolean isAlone() {
        return host.isAlone() && policy.release() == Release.ASYNC;
    }
}
