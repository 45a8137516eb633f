package io.github.distributedpermit.core.key;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What the claims of all keys together show about the store. Whether it answers is a matter of the store, not of one key: so a
 * call of a key that was never used before need not find out by itself that the store does not answer, and a claim that is lost while
 * others are answered shows nothing. Thread-safe.
 */
public final class StoreContact {

    /** While calls fail at once, one claim in this many nanoseconds finds out whether the store answers again. */
    private static final long PROBE = 500_000_000L;

    /** Since when no claim of any key has been answered. */
    final Outage outage;

    /** The same as operators see it. */
    private final ReportedOutage reported = new ReportedOutage();

    /** The outage during which calls may run without the store. */
    private final LastingOutage lasting;

    private final KnownOverrides overrides = new KnownOverrides();

    private final AtomicLong lastProbe = new AtomicLong(Long.MIN_VALUE / 2);

    /** When the last standstill of the process began, as far as is known; guarded by this. */
    private long stoppedAt;

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

    /** A claim is sent. */
    public void asked(long now) {
        outage.attempted(now);
    }

    /**
     * A claim was answered, even if by a refusal.
     *
     * @return how many nanoseconds the outage lasted, if one was reported; else 0
     */
    public long answered(long now) {
        outage.answered(now);
        return reported.answered(now);
    }

    /**
     * A claim that was sent at this time has failed.
     *
     * @param cause {@code null} if it was not answered within the command time-out
     * @return for how many nanoseconds the store has not answered, if that is to be reported now; else 0
     */
    public long failed(@Nullable Throwable cause, long sentAt, long now) {
        outage.failed(cause, sentAt, now);
        boolean shows = cause != null || outage.isSilence(now); // a single claim may be lost while others are answered
        return shows ? reported.failed(sentAt, outage.answeredAt(), now) : 0;
    }

    /** Whether the store has not answered anything for a command time-out although it was asked. */
    boolean isSilent(long now) {
        return outage.isSilence(now) || reported.isReported();
    }

    /** The outage as operators see it. */
    public ReportedOutage reported() {
        return reported;
    }

    /** When any claim was last answered; -1 if none was. */
    public long answeredAt() {
        return outage.answeredAt();
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

    /** The process stood still until now. Each key reports what it has noticed, so that only what is new is counted. */
    synchronized void stoodStill(long length, long now) {
        long from = now - length;
        long known = Math.max(0, resumedAt - Math.max(from, stoppedAt));
        stoppedAt = from < resumedAt ? Math.min(from, stoppedAt) : from;
        resumedAt = now;
        outage.skip(length - known, now);
    }
}
