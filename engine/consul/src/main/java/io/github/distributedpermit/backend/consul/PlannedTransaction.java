package io.github.distributedpermit.backend.consul;

import java.util.List;
import java.util.Set;

/**
 * The operations that make of a {@link KeyTree} what a step says, and what {@link KeyCommitter} has to know about
 * them. Immutable. {@link SlotPlan} and {@link LockFilePlan} create it.
 *
 * @param ops without the check of the fence and the final read; empty if nothing changes
 * @param isPlain whether the claimer gets or leaves all it asked for and no member waits: worth trying on a snapshot
 *     that may be out of date
 * @param isPart whether something of the claim is still to be done after it
 * @param grants whether the claimer gets more permits, so that the committed sum has to be compared with the limit
 * @param queues whether the claimer waits now, so that other members may write notices into its inbox
 * @param needed how many sessions the claimer has to have before; more than it has: nothing can be committed yet
 * @param sessions those which the key may use after it, besides those that it may use before
 */
record PlannedTransaction(
        List<TxnOperation> ops,
        boolean isPlain,
        boolean isPart,
        boolean grants,
        boolean queues,
        int needed,
        Set<String> sessions) {}
