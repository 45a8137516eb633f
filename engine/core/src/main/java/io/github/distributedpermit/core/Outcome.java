package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitRejectedException.Reason;

/** How a call's wait ended; decided exactly once. */
sealed interface Outcome permits Grant, Outcome.Refused, Outcome.Failed, Outcome.Abandoned {

    /** No permit, and the store is well. */
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
