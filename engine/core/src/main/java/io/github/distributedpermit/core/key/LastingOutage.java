package io.github.distributedpermit.core.key;

/**
 * The outage during which calls may run without the store. It begins when a call needs it and no claim of the member has been
 * answered for long, and ends only when the store has answered probes for a while without a failure. In between, single answers and
 * failures change nothing, so that calls do not alternate between the store and the instance. Thread-safe; a look at it costs
 * one volatile read.
 */
public final class LastingOutage {

    /** For how long the store has to answer. */
    private final long steady;

    private volatile long since = Times.NEVER;
    private long answeringSince = Times.NEVER;

    LastingOutage(long steady) {
        this.steady = steady;
    }

    /** Whether the store is not used now. */
    public boolean isOn() {
        return since != Times.NEVER;
    }

    /** Whether it has lasted for this long. */
    boolean lasts(long bound, long now) {
        long from = since;
        return from != Times.NEVER && now - from >= bound;
    }

    /** How long it has lasted; 0 if there is none. */
    public long length(long now) {
        long from = since;
        return from == Times.NEVER ? 0 : now - from;
    }

    /** The store has not answered since this time. {@code false} if the outage had begun before. */
    synchronized boolean begin(long from) {
        if (since != Times.NEVER) {
            return false;
        }
        answeringSince = Times.NEVER;
        since = from;
        return true;
    }

    /** A probe failed or was not answered in time. */
    public synchronized void failed() {
        answeringSince = Times.NEVER;
    }

    /**
     * A probe that was sent at this time was answered in time. It ends the outage if it was sent after the store had answered
     * for long enough, since an earlier one does not show that the store answers now.
     *
     * @return whether the outage ends
     */
    public synchronized boolean answered(long sentAt, long now) {
        if (since == Times.NEVER) {
            return false;
        }
        if (answeringSince == Times.NEVER) {
            answeringSince = now;
            return false;
        }
        if (sentAt - answeringSince < steady) {
            return false;
        }
        since = Times.NEVER;
        return true;
    }
}
