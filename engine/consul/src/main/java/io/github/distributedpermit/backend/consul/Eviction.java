package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Deletes, by order of an operator, what a process holds of a key and its place in the queue. The process finds the loss when
 * it reads the key; a notice in its inbox makes it read the key at once. More permits than fit into one transaction are taken by
 * several. Confined to the event loop.
 */
final class Eviction {

    /** Consul takes 64 operations in one transaction. */
    private static final int OPERATIONS = 60;

    /** Each transaction fails if the permits have changed since they were read. */
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

    private CompletableFuture<Integer> evict(KeyNames names, String process, int taken, int attempts) {
        return reader.inspect(names).thenCompose(snapshot -> {
            KeyTree tree = snapshot.tree();
            List<String> holding = tree.holdingSessions(process);
            if (holding.isEmpty()) {
                return CompletableFuture.completedFuture(taken);
            }
            String session = holding.get(0);
            List<TxnOperation> all = tree.eviction(session);
            List<TxnOperation> ops = new ArrayList<>(all.subList(0, Math.min(all.size(), OPERATIONS)));
            ops.add(TxnOperation.delete(names.inbox(session))); // the notice of a grant that is taken back
            if (tree.holdingMembers()
                    .contains(session)) { // a notice for a session that has ended fails the transaction
                ops.add(ContentionNotice.ofEviction(names, session, nonces.get()));
            }
            ops.add(TxnOperation.getTree(names.tree()));
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

    /** The key, or the session of a crashed process, has changed since it was read. */
    private static boolean isPassing(Refused refused) {
        return refused.isConflict() || refused.isInvalidSession();
    }
}
