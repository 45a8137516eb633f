package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Reads keys. Consul answers a plain read before it has replayed its log, so that what seems to be lost, or to be granted, is
 * confirmed by a consistent read, which costs the servers a round among themselves. Confined to the event loop.
 *
 * <p>A result that is received in a session that is over fails instead, because the layer must not compute on it.
 */
final class KeyReader {

    /** Inspections that are under way at a time. */
    private static final int INSPECTIONS = 8;
    /** Consul takes 64 operations in one transaction. */
    private static final int CHECKS = 63;
    /** In nanoseconds, between two attempts while the leader has not replayed its log. */
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Membership membership;
    private final ConsulApi api;
    private final KeyLayout layout;
    private final EventLoop loop;
    /** How long a read is repeated, in nanoseconds; then it fails and the core repeats its claim. */
    private final long patience;

    /** Operators and metrics may inspect many keys at once. So few of them are under way that claims do not wait behind them. */
    private final RequestLimiter inspections = new RequestLimiter(INSPECTIONS);

    KeyReader(Membership membership, ConsulApi api, KeyLayout layout, EventLoop loop, ConsulSettings settings) {
        this.membership = membership;
        this.api = api;
        this.layout = layout;
        this.loop = loop;
        this.patience = 2 * TimeUnit.NANOSECONDS.convert(settings.requestTimeout());
    }

    /**
     * For a claim, or a check of the member's permits. What is missing, or was not expected, is confirmed by a second,
     * consistent read. A consistent read is due after a check found a permit missing, or if this read lacks permits that must
     * be recorded, or has others.
     */
    CompletableFuture<ConsulSnapshot> read(KeyUse use) {
        boolean consistent = use.takeCheck();
        return membership
                .session()
                .thenCompose(session -> read(use, session, consistent))
                .whenComplete((snapshot, failure) -> {
                    if (failure != null) {
                        use.outdated();
                    }
                });
    }

    /**
     * A member that waits reads the key twice a second, and the key has an entry for each member that waits. So the last tree
     * is kept if a few checks show that it still holds; their answer does not grow with the queue. A waiting member that has
     * crashed may still be in it. A plan that serves that one fails, and then the whole key is read.
     */
    private CompletableFuture<ConsulSnapshot> read(KeyUse use, Session session, boolean consistent) {
        KeyTree known = consistent ? null : use.waitingTree(session);
        if (known == null) {
            return readAll(use, session, consistent);
        }
        List<TxnOperation> ops = new ArrayList<>();
        ops.add(TxnOperation.checkSession(session.fenceKey(), session.id()));
        ops.add(TxnOperation.checkIndex(
                known.names().waiting(session.id()),
                Objects.requireNonNull(known.waiting().get(session.id())).index()));
        ops.addAll(known.unchanged());
        if (ops.size() > CHECKS) {
            return readAll(use, session, false);
        }
        // The last operation gives the transaction the form that ConsulApi expects. As a rule there is no such entry.
        ops.add(TxnOperation.getTree(known.names().override()));
        return api.transact(ops)
                .handle((outcome, failure) -> {
                    if (failure != null) {
                        return CompletableFuture.<ConsulSnapshot>failedFuture(Membership.asStoreException(failure));
                    }
                    if (session.isOver()) {
                        return CompletableFuture.<ConsulSnapshot>failedFuture(Session.lost());
                    }
                    // A refusal does not say all that has changed, and a missing right is reported by the read.
                    return outcome instanceof Done
                            ? CompletableFuture.completedFuture(use.received(session, known, false))
                            : readAll(use, session, false);
                })
                .thenCompose(snapshot -> snapshot);
    }

    private CompletableFuture<ConsulSnapshot> readAll(KeyUse use, Session session, boolean consistent) {
        return read(use.names(), session, consistent, loop.now() + patience)
                // A read of a server that lags behind may lack a permit. Only if a consistent read lacks it too, it
                // was deleted. It may also show a permit that the member has returned and that another one holds by
                // now; a claim that finds it needs no write, so that no check of a transaction would notice.
                .thenCompose(tree -> consistent || use.isExpected(session, tree)
                        ? CompletableFuture.completedFuture(use.received(session, tree, false))
                        : readAll(use, session, true));
    }

    /**
     * For operators: nothing is remembered of it. The index of the tree stands for what was seen, since no notices
     * are followed here.
     */
    CompletableFuture<ConsulSnapshot> inspect(KeyNames names) {
        return membership
                .session()
                .thenCompose(session -> inspections.enter(() -> read(names, session, false, loop.now() + patience)))
                .thenApply(tree -> new ConsulSnapshot(tree, tree.index(), false));
    }

    /**
     * Reads the fence together with the tree: a transaction that reads a key which does not exist is refused, so that a tree is
     * received only while the session exists.
     *
     * @param consistent whether the leader has to confirm its rank first
     * @param deadline when the read is given up if the leader has not replayed its log, on the loop's clock
     */
    private CompletableFuture<KeyTree> read(KeyNames names, Session session, boolean consistent, long deadline) {
        List<TxnOperation> ops = List.of(TxnOperation.get(session.fenceKey()), TxnOperation.getTree(names.tree()));
        return (consistent ? api.readConsistently(ops) : api.transact(ops))
                .handle((outcome, failure) -> {
                    if (failure != null) {
                        return CompletableFuture.<KeyTree>failedFuture(Membership.asStoreException(failure));
                    }
                    // The session may have ended between the answer and this event.
                    if (session.isOver()) {
                        return CompletableFuture.<KeyTree>failedFuture(Session.lost());
                    }
                    return outcome instanceof Done done
                            ? CompletableFuture.completedFuture(layout.read(names, done.tree()))
                            : refused(names, session, consistent, deadline, (Refused) outcome);
                })
                .thenCompose(tree -> tree);
    }

    /** A leader that has not replayed all of its log does not have the fence yet either. */
    private CompletableFuture<KeyTree> refused(
            KeyNames names, Session session, boolean consistent, long deadline, Refused refused) {
        // The read has one operation that can be refused, the fence; any other reason is reported as it is.
        if (refused.isDenied() || !refused.names(session.fenceKey())) {
            return CompletableFuture.failedFuture(Membership.refused(refused));
        }
        return membership.confirmLoss(session).thenCompose(lost -> {
            if (lost || session.isOver()) {
                return CompletableFuture.failedFuture(Session.lost());
            }
            if (loop.now() - deadline > 0) {
                return CompletableFuture.failedFuture(Membership.refused(refused));
            }
            return loop.pause(PAUSE).thenCompose(done -> read(names, session, consistent, deadline));
        });
    }
}
