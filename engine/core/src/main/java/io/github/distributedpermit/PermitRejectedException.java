package io.github.distributedpermit;

import java.util.concurrent.RejectedExecutionException;

/**
 * The call got no permit, and the store is well: try again later, or do without. Thrown to the caller's thread; nothing
 * is held and nothing waits on its behalf.
 */
public final class PermitRejectedException extends RejectedExecutionException {

    private static final long serialVersionUID = 1L;

    private final String name;
    private final String key;
    private final Reason reason;

    /**
     * Creates the exception.
     *
     * @param name the permit's name
     * @param key the key, as the caller gave it
     * @param reason why there was no permit
     * @param message says key, limit and time waited, and what to do
     */
    public PermitRejectedException(String name, String key, Reason reason, String message) {
        super(message);
        this.name = name;
        this.key = key;
        this.reason = reason;
    }

    /** The permit's name, as in settings and metrics. */
    public String name() {
        return name;
    }

    /** The key, as the caller gave it. */
    public String key() {
        return key;
    }

    /** Why there was no permit. */
    public Reason reason() {
        return reason;
    }

    /** Whether the limit is reached, or the time-out of the call has passed or would. */
    boolean isForWantOfTime() {
        return reason == Reason.LIMIT_REACHED || reason == Reason.TIMED_OUT || reason == Reason.WOULD_TIME_OUT;
    }

    /** Why a call got no permit; the tag {@code reason} of the metric {@code distributed.permit.rejections}. */
    public enum Reason {
        /** A call that does not wait found no free permit. */
        LIMIT_REACHED,
        /** The call waited for its whole time-out. */
        TIMED_OUT,
        /** The call would not have got a permit within its time-out, and the settings say {@code reject-hopeless}. */
        WOULD_TIME_OUT,
        /** As many calls as allowed wait already ({@code max-waiting}). */
        QUEUE_FULL,
        /** The call asks for more permits than the limit now is. */
        ABOVE_LIMIT,
        /** This instance uses a million keys at once already. */
        TOO_MANY_KEYS,
        /** The application is shutting down and no permit is free, or an operator has drained this instance. */
        SHUTTING_DOWN
    }
}
