package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitStoreException;

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
    record Failed(Throwable cause) implements Outcome {

        /** A call got no permit of a store that has lost its state: another instance may hold the permit, or none does. */
        static Failed inGrace(Policy policy) {
            return new Failed(PermitStoreException.passing(
                    ("the store has lost the state of this key, for example by a fail-over, and grants no new permits for"
                                    + " up to %d ms (or the longest lease of another instance), until those who hold permits have"
                                    + " reclaimed them")
                            .formatted(policy.lease() / 1_000_000),
                    null));
        }
    }

    /** The caller was interrupted or cancelled. */
    enum Abandoned implements Outcome {
        ABANDONED
    }
}
