package io.github.distributedpermit.core;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call that asks for permits. Its outcome is decided in one compare-and-set, whether by the line that grants or by
 * the caller that gives up, so a permit granted at the moment of a time-out is never lost. All other mutable fields are
 * guarded by the lock of the line.
 */
class Waiter {

    /** No claim has been sent since the call came. */
    static final long UNCLAIMED = -1;

    private static final AtomicReferenceFieldUpdater<Waiter, @Nullable Outcome> OUTCOME =
            AtomicReferenceFieldUpdater.newUpdater(Waiter.class, Outcome.class, "outcome");

    final NameUse use;
    final int weight;
    final boolean queueing;
    final long arrival;
    private final Waker waker;

    @Nullable
    Waiter previous;

    @Nullable
    Waiter next;

    boolean inLine;
    /** Whether the gauge of its name counts it; belongs to who decides the outcome, not to the line. */
    boolean gauged;

    long firstClaim = UNCLAIMED;

    private volatile @Nullable Outcome outcome;

    Waiter(NameUse use, int weight, boolean queueing, long arrival, Waker waker) {
        this.use = use;
        this.weight = weight;
        this.queueing = queueing;
        this.arrival = arrival;
        this.waker = waker;
    }

    /** Decides the outcome unless it is decided already. */
    boolean decide(Outcome value) {
        return OUTCOME.compareAndSet(this, null, value);
    }

    @Nullable
    Outcome outcome() {
        return outcome;
    }

    /** Overwrites the outcome without looking; only so that a test can plant the mistake of doing so. */
    final void overwrite(Outcome value) {
        outcome = value;
    }

    /** Whether a claim sent after the call came has been confirmed. */
    boolean wasClaimedBy(long confirmed) {
        return firstClaim != UNCLAIMED && firstClaim <= confirmed;
    }

    /** Tells the caller, outside of every lock. */
    void wake(Outcome value) {
        waker.wake(value);
    }

    /** How a caller hears of its outcome; must not block. */
    interface Waker {
        void wake(Outcome outcome);
    }
}
