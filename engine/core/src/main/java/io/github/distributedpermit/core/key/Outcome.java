package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;

/**
 * How the wait of a call ended: with a {@link Grant}, a refusal, a failure of the store, or because the caller gave up. Decided
 * exactly once, by {@link Waiter#decide}. Immutable, but for the grant.
 */
public sealed interface Outcome permits Grant, Outcome.Refused, Outcome.Failed, Outcome.Abandoned {

    /** The call is rejected although the store answers. */
    record Refused(Reason reason) implements Outcome {
        static final Refused TIMED_OUT = new Refused(Reason.TIMED_OUT);
    }

    /** The store failed. */
    record Failed(Throwable cause) implements Outcome {}

    /** The caller was interrupted or cancelled. */
    enum Abandoned implements Outcome {
        ABANDONED
    }
}
