package io.github.distributedpermit.core.key;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the claims of all keys together show about the store: whether it answers, and how long that usually takes. So a call
 * of a key that was never used before need not find out by itself that the store does not answer. Thread-safe; updates of
 * the usual time may be lost, which does not matter for an average.
 */
public final class StoreContact {

    /** While calls fail at once, one claim in this many nanoseconds finds out whether the store answers again. */
    private static final long PROBE = 500_000_000L;

    /** An answer that takes so many times as long as usual is overdue. */
    private static final int USUAL_FACTOR = 8;

    /** Threads and networks may delay any answer by this many nanoseconds. */
    private static final long USUAL_LEAST = 10_000_000L;

    /** A slow answer raises the usual time by one part in so many of itself at most. */
    private static final int RISE = 8;

    /** A quick answer lowers the usual time by one part in so many of the difference. */
    private static final int FALL = 2;

    /** Since when no claim of any key has been answered. */
    final Outage outage;

    /** The same as operators see it. */
    private final ReportedOutage reported = new ReportedOutage();

    /** The outage during which calls may run without the store. */
    private final LastingOutage lasting;

    private final KnownOverrides overrides = new KnownOverrides();

    private final AtomicLong lastProbe = new AtomicLong(Long.MIN_VALUE / 2);
    private volatile long usual;
    private volatile long resumedAt;

    public StoreContact(long commandTimeout) {
        outage = new Outage(commandTimeout);
        lasting = new LastingOutage(commandTimeout);
    }

    /** The outage during which calls may run without the store. */
    public LastingOutage lasting() {
        return lasting;
    }

    /** The operators' limits as of the last answers. */
    KnownOverrides overrides() {
        return overrides;
    }

    /** A claim that belongs to no queue is sent, only to find out whether the store answers. */
    public void asked(long now) {
        outage.attempted(now);
    }

    /** Such a claim, sent at this time, was answered. */
    public void answers(long now) {
        outage.answered(now);
    }

    /** Such a claim failed. */
    public void failed(Throwable cause, long sentAt, long now) {
        outage.failed(cause, sentAt, now);
    }

    /**
     * A claim was answered after this time. What is usual rises slowly and falls quickly: after the store did not answer for
     * seconds, all claims that were under way are answered at once, and their seconds are not usual.
     */
    void answered(long took, long now) {
        outage.answered(now);
        long known = usual;
        long change = took > known ? Math.min(took - known, known) / RISE : (took - known) / FALL;
        usual = Math.max(1, known == 0 ? took : known + change);
    }

    /** The outage as operators see it. */
    public ReportedOutage reported() {
        return reported;
    }

    /** When any claim was last answered; -1 if none was. */
    public long answeredAt() {
        return outage.answeredAt();
    }

    /** Whether answers of this store may take this long. If it has never answered, nothing is usual. */
    boolean isUsual(long age) {
        long known = usual;
        return known != 0 && age <= USUAL_LEAST + USUAL_FACTOR * known;
    }

    /** Whether one more claim may be sent only to find out whether the store answers again. */
    boolean mayProbe(long now) {
        long last = lastProbe.get();
        return now - last >= PROBE && lastProbe.compareAndSet(last, now);
    }

    /** When the process resumed after it stood still; 0 if it never did. */
    long resumedAt() {
        return resumedAt;
    }

    /** The process stood still until now. Each key reports it for itself, so that only what is new is counted. */
    synchronized void stoodStill(long length, long now) {
        long unknown = Math.min(length, now - resumedAt);
        if (unknown > 0) {
            resumedAt = now;
            outage.skip(unknown, now);
        }
    }
}
