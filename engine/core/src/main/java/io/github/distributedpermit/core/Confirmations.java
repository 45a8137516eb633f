package io.github.distributedpermit.core;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Calls that wait until the store knows of their return. Each waits for the first claim sent after it, whatever others
 * return meanwhile: on a busy key there is always something the store has not heard of. Guarded by the lock of the line.
 */
final class Confirmations {

    private final List<Awaited> awaited = new ArrayList<>(0);

    /** Ends when the store has confirmed the claim that carries what is owed now. */
    CompletableFuture<Void> await(ClaimPlan plan) {
        Awaited one = new Awaited();
        one.carrier = plan.owedCarrier();
        awaited.add(one);
        return one.confirmation;
    }

    /** A claim may have been sent, or confirmed. */
    void settle(ClaimPlan plan, long applied, Effects effects) {
        if (awaited.isEmpty()) {
            return;
        }
        List<Awaited> done = new ArrayList<>(awaited.size());
        for (Awaited one : awaited) {
            if (one.carrier == ClaimPlan.NONE) {
                one.carrier = plan.owedCarrier();
            }
            boolean carried = one.carrier != ClaimPlan.NONE && one.carrier <= applied;
            if (carried || !plan.owes()) {
                done.add(one);
            }
        }
        awaited.removeAll(done);
        done.forEach(one -> effects.run(() -> one.confirmation.complete(null)));
    }

    private static final class Awaited {

        final CompletableFuture<Void> confirmation = new CompletableFuture<>();
        long carrier;
    }
}
