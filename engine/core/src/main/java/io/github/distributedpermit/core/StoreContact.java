package io.github.distributedpermit.core;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What all claims of this member together say of the store: whether it answers, and how long that takes. A key that was
 * never used before profits from what is known of others. Thread-safe.
 */
final class StoreContact {

    /** While calls fail at once, a claim in so much time finds out whether the store is back. */
    private static final long PROBE = 500_000_000L;

    /** An answer that is so many times as late as others is overdue. */
    private static final int USUAL_FACTOR = 8;

    /** Threads and networks are late by so much at any time. */
    private static final long USUAL_LEAST = 10_000_000L;

    private static final int WEIGHT = 8;

    final Outage outage;
    private final AtomicLong lastProbe = new AtomicLong(Long.MIN_VALUE / 2);
    private volatile long usual;
    private volatile long resumedAt;

    StoreContact(long commandTimeout) {
        outage = new Outage(commandTimeout);
    }

    /** A claim was answered after so long. */
    void answered(long took, long now) {
        outage.answered(now);
        long known = usual;
        usual = known == 0 ? Math.max(1, took) : Math.max(1, known + (took - known) / WEIGHT);
    }

    /** Whether answers of this store may take so long. If it has never answered, nothing is usual. */
    boolean isUsual(long age) {
        long known = usual;
        return known != 0 && age <= USUAL_LEAST + USUAL_FACTOR * known;
    }

    /** Whether one more claim may be sent only to find out whether the store answers again. */
    boolean mayProbe(long now) {
        long last = lastProbe.get();
        return now - last >= PROBE && lastProbe.compareAndSet(last, now);
    }

    /** When the process went on after it stood still; 0 if it never did. */
    long resumedAt() {
        return resumedAt;
    }

    /** The process stood still until now. Every key notices it for itself. */
    synchronized void stoodStill(long length, long now) {
        long unknown = Math.min(length, now - resumedAt);
        if (unknown > 0) {
            resumedAt = now;
            outage.skip(unknown, now);
        }
    }
}
