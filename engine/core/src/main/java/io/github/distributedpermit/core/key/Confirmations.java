package io.github.distributedpermit.core.key;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The calls that wait, with {@code release: sync}, until the store has confirmed their return. Each waits for the first claim
 * that is sent after its return, and not until nothing at all is left to confirm: on a busy key that might never happen.
 * Guarded by the lock of the {@link KeyQueue}.
 */
final class Confirmations {

    private final List<Awaited> awaited = new ArrayList<>(0);

    /** A future that completes when the store has confirmed the claim that returns what is owed now. */
    CompletableFuture<Void> await(ClaimPlan plan, Ledger ledger) {
        Awaited one = new Awaited();
        one.returnedBy = plan.sequenceOfReturn(ledger);
        awaited.add(one);
        return one.confirmation;
    }

    /** Completes what has been confirmed up to this sequence; called whenever a claim may have been sent or confirmed. */
    void settle(ClaimPlan plan, Ledger ledger, Effects effects) {
        if (awaited.isEmpty()) {
            return;
        }
        List<Awaited> done = new ArrayList<>(awaited.size());
        for (Awaited one : awaited) {
            if (one.returnedBy == ClaimPlan.NONE) {
                one.returnedBy = plan.sequenceOfReturn(ledger);
            }
            boolean carried = one.returnedBy != ClaimPlan.NONE && one.returnedBy <= ledger.appliedSequence();
            if (carried || !ledger.owes()) {
                done.add(one);
            }
        }
        awaited.removeAll(done);
        done.forEach(one -> effects.execute(() -> one.confirmation.complete(null)));
    }

    private static final class Awaited {

        final CompletableFuture<Void> confirmation = new CompletableFuture<>();
        long returnedBy;
    }
}
