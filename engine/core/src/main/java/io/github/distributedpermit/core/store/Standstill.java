package io.github.distributedpermit.core.store;

/**
 * The last time for which the process stood still, as far as overdue events have shown it: several show parts of the same time. Not
 * thread-safe.
 */
public final class Standstill {

    private long from;
    private long until = Long.MIN_VALUE;

    /** How much of the time from when an event was due until now is not known yet; 0 if the event is not overdue. */
    public long unknown(long due, long now) {
        return due >= now ? 0 : now - Math.max(due, until) + (due < from && from < until ? from - due : 0);
    }

    /** The process stood still until now, since an event is so much overdue. */
    public void note(long due, long now) {
        from = due < until ? Math.min(due, from) : due;
        until = now;
    }
}
