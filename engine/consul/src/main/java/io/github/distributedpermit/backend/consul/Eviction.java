package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Deletes, by order of an operator, what a process holds of a key and its place in the queue. The process finds the
 * loss when it reads the key; a notice in its inbox makes it read the key at once. More permits than fit into one
 * transaction are taken by several. Confined to the event loop. {@link ConsulSnapshotStore} creates one for each
 * order. It writes without the fence of a member: each of its operations fails by itself if the permit it deletes has
 * changed, so that a delayed transaction takes nothing that was granted later.
 */
final class Eviction {

    /**
     * Consul takes 64 operations in one transaction. Besides these the transaction has the deletion of a notice, a
     * new notice, and the final read.
     */
    private static final int OPERATIONS = 60;

    /**
     * Each transaction fails if the permits have changed since they were read. After so many conflicts the order
     * fails, and the operator can repeat it.
     */
    private static final int ATTEMPTS = 20;

    private final KeyReader reader;
    private final ConsulApi api;
    private final Supplier<String> nonces;

    Eviction(KeyReader reader, ConsulApi api, Supplier<String> nonces) {
        this.reader = reader;
        this.api = api;
        this.nonces = nonces;
    }

    /** Returns how many permits the process had. */
    CompletableFuture<Integer> evict(KeyNames names, String process) {
        return evict(names, process, 0, ATTEMPTS);
    }

    /**
     * Each round reads the key again, because the process may have got or returned permits since.
     *
     * @param taken how many permits the rounds before have deleted
     */
    private CompletableFuture<Integer> evict(KeyNames names, String process, int taken, int attempts) {
        return reader.inspect(names).thenCompose(snapshot -> {
            KeyTree tree = snapshot.tree();
            List<String> holding = tree.holdingSessions(process);
            if (holding.isEmpty()) {
                return CompletableFuture.completedFuture(taken);
            }
            // A process may have permits by two sessions for a moment, if it has lost one; each round takes those of
            // one session.
            String session = holding.get(0);
            List<TxnOperation> all = tree.eviction(session);
            List<TxnOperation> ops = new ArrayList<>(all.subList(0, Math.min(all.size(), OPERATIONS)));
            ops.add(TxnOperation.delete(names.inbox(session))); // the notice of a grant that is taken back
            if (tree.holdingMembers()
                    .contains(session)) { // a notice for a session that has ended fails the transaction
                ops.add(ContentionNotice.ofEviction(names, session, nonces.get()));
            }
            ops.add(TxnOperation.getTree(names.tree()));
            // What did not fit are permits, since their deletions come last; they are taken in the next round.
            int permits = tree.permits(session) - Math.max(0, all.size() - OPERATIONS);
            return api.transact(ops)
                    .exceptionally(e -> {
                        throw Membership.asStoreException(e);
                    })
                    .thenCompose(outcome -> {
                        if (outcome instanceof Refused refused && (!isPassing(refused) || attempts == 1)) {
                            return CompletableFuture.failedFuture(Membership.refused(refused));
                        }
                        int now = outcome instanceof Refused ? taken : taken + permits;
                        boolean more = outcome instanceof Refused || all.size() > OPERATIONS || holding.size() > 1;
                        if (!more) {
                            return CompletableFuture.completedFuture(now);
                        }
                        return evict(names, process, now, outcome instanceof Refused ? attempts - 1 : attempts);
                    });
        });
    }

    /**
     * The key, or the session of a crashed process, has changed since it was read.
     *
     * @return whether another attempt on a new read makes sense
     */
    private static boolean isPassing(Refused refused) {
        return refused.isConflict() || refused.isInvalidSession();
    }
}
