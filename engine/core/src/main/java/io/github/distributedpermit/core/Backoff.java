package io.github.distributedpermit.core;

/** After a failed claim none is sent for a while, which doubles with each failure. Guarded by the lock of the line. */
final class Backoff {

    private static final long FIRST = 50_000_000L;
    static final long LONGEST = 1_000_000_000L;

    private long delay;
    private long until = Long.MIN_VALUE;

    void failed(long now, double jitter) {
        delay = delay == 0 ? FIRST : Math.min(LONGEST, delay * 2);
        until = now + delay / 2 + (long) (delay * jitter / 2);
    }

    void answered() {
        delay = 0;
        until = Long.MIN_VALUE;
    }

    /** There is reason to believe that the next claim is answered; if it is not, the pause goes on where it was. */
    void lift() {
        until = Long.MIN_VALUE;
    }

    /** Whether no claim has been answered since the last failure. */
    boolean isFailing() {
        return delay != 0;
    }

    long until() {
        return until;
    }
}
