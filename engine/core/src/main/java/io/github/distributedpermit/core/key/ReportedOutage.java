package io.github.distributedpermit.core.key;

/**
 * The outage of the store as operators see it: it begins with the first claim of the member that fails, is reported once it
 * has lasted for a second, and ends with the next answer. So a lost connection that is replaced at once is no outage. Nor are two
 * failures far apart: an instance that asked nothing between them does not know whether the store was away all the time.
 * Thread-safe; an answer while there is no outage costs one volatile read.
 */
public final class ReportedOutage {

    /** A shorter outage is not reported. */
    private static final long LEAST = 1_000_000_000L;

    /** Failures are further apart than this only if nothing asked the store between them, such as a health check. */
    private static final long APART = 120_000_000_000L;

    private volatile long since = Times.NEVER;

    /** The last failure; guarded by this. */
    private long last;

    private volatile boolean reported;

    /**
     * A claim that was sent at this time failed.
     *
     * @param answeredAt when the store last answered
     * @return for how many nanoseconds the store has not answered, if that is to be reported now; else 0
     */
    public synchronized long failed(long sentAt, long answeredAt, long now) {
        if (since == Times.NEVER || (!reported && sentAt - last > APART)) {
            since = Math.max(sentAt, answeredAt);
        }
        last = now;
        long lasted = now - since;
        if (reported || lasted < LEAST) {
            return 0;
        }
        reported = true;
        return lasted;
    }

    /** The store answered. How many nanoseconds the outage lasted, if one was reported; else 0. */
    public long answered(long now) {
        return since == Times.NEVER ? 0 : end(now);
    }

    private synchronized long end(long now) {
        long lasted = reported ? Math.max(1, now - since) : 0;
        since = Times.NEVER;
        reported = false;
        return lasted;
    }

    /** Whether an outage was reported and has not ended. */
    public boolean isReported() {
        return reported;
    }
}
