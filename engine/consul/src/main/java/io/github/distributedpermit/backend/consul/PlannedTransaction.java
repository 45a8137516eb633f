package io.github.distributedpermit.backend.consul;

import java.util.List;

/**
 * A change to commit.
 *
 * @param ops none if nothing changes
 * @param isPlain whether the claimer gets or leaves all it asked for and no member waits: worth trying on a snapshot
 *     that may be out of date
 * @param isPart whether something of the claim is still to be done after it
 * @param grants whether the claimer gets more
 * @param queues whether the claimer waits now
 * @param sessions how many sessions the claimer has to have before; more than it has: nothing can be committed yet
 */
record PlannedTransaction(
        List<TxnOperation> ops, boolean isPlain, boolean isPart, boolean grants, boolean queues, int sessions) {}
