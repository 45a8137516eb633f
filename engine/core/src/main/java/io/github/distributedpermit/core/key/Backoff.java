package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.store.Outage;

/**
 * The pause after failed claims of one key: 50 ms, doubling with each further failure up to a second, of which the second
 * half is random, so that members do not repeat their claims at the same time. Guarded by the lock of the {@link KeyQueue}.
 */
final class Backoff {

    private static final long FIRST = 50_000_000L;
    private static final long LONGEST = Outage.LONGEST_PAUSE;

    private long delay;
    private long until = Long.MIN_VALUE;

    /** A claim failed. */
    void failed(long now, double jitter) {
        delay = delay == 0 ? FIRST : Math.min(LONGEST, delay * 2);
        until = now + delay / 2 + (long) (delay * jitter / 2);
    }

    /** A claim was answered: the next failure begins with the shortest pause. */
    void answered() {
        delay = 0;
        until = Long.MIN_VALUE;
    }

    /** Ends this pause, because the store can be reached again. A further failure doubles the pause as if it had not ended. */
    void lift() {
        until = Long.MIN_VALUE;
    }

    /** Whether no claim has been answered since the last failure. */
    boolean isFailing() {
        return delay != 0;
    }

    /** Until when no claim is sent. */
    long until() {
        return until;
    }
}
