package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a planned transaction that is the same in both layouts: the entries of the queue, the notices, and the
 * operator's limit. It adds its operations to those of {@link SlotPlan} or {@link LockFilePlan}, which plan the permits and the
 * guards. Used once, by one thread.
 *
 * <p>It counts how many members wait after the transaction, by which the plans decide what the guard has to be.
 */
final class QueueChanges {

    private final KeyTree tree;
    private final ChangeRequest request;
    /** Shared with the plan, which adds its own operations in between. */
    private final List<TxnOperation> ops;

    private final Map<String, PermitRecord> written = new HashMap<>();
    /** Starts with those of the tree, and follows each change that is planned. */
    private int waitersAfter;

    QueueChanges(KeyTree tree, Step step, ChangeRequest request, List<TxnOperation> ops) {
        this.tree = tree;
        this.request = request;
        this.ops = ops;
        step.written().forEach(record -> written.put(record.member(), record));
        waitersAfter = tree.waiting().size();
    }

    /** What the step writes for a member; {@code null} if nothing. */
    @Nullable
    PermitRecord written(String session) {
        return written.get(session);
    }

    /** How many members wait after the transaction. */
    int waitersAfter() {
        return waitersAfter;
    }

    /** A waiting member got permits: it leaves the queue unless it wants more, and receives a notice. */
    void served(String session, Holding holding, int lowestPlace) {
        QueuedMember waiting = waiting(session);
        PermitRecord record = Objects.requireNonNull(written.get(session));
        String name = tree.names().waiting(session);
        if (record.isQueued()) {
            long since = record.since().orElseThrow();
            // A partly served member keeps its position. In both cases the comparison fails if the member has changed
            // its
            // entry meanwhile or has left the queue: it would not use the permits, nor return them.
            ops.add(TxnOperation.cas(name, waiting.index(), waiting.text(record, since)));
        } else {
            ops.addAll(TxnOperation.deleteUnchanged(name, waiting.index()));
            waitersAfter--;
        }
        String notice = new GrantNotice(holding, lowestPlace, request.nonce()).text();
        // Fails if the session has ended, so that no permit is granted to a member that has crashed and whose session
        // is over.
        ops.add(TxnOperation.lock(tree.names().inbox(session), session, notice));
    }

    /**
     * A waiting member got a part of its permits and stays in the queue as it is. Fails if it has left the queue meanwhile:
     * it would not return them.
     */
    void stillWaits(String session) {
        QueuedMember waiting = waiting(session);
        ops.add(TxnOperation.checkIndex(tree.names().waiting(session), waiting.index()));
    }

    /** The step serves only queued members, so that an absence shows a fault of this library; the attempt then fails. */
    private QueuedMember waiting(String session) {
        QueuedMember waiting = tree.waiting().get(session);
        if (waiting == null) {
            throw new IllegalStateException("A member that does not wait was served: " + session);
        }
        return waiting;
    }

    /**
     * The claiming member waits after the transaction.
     *
     * @param since its position
     * @param room how many notices to holders the transaction can take
     */
    void waits(PermitRecord own, long since, int room) {
        QueuedMember known = tree.waiting().get(request.session());
        String name = tree.names().waiting(request.session());
        if (known == null) {
            ops.add(TxnOperation.lock(name, request.session(), QueuedMember.text(own, request.member(), since)));
            // Only with the entry that is new: a member that goes on waiting has notified the holders before.
            ops.addAll(ContentionNotice.toHolders(tree, request, room));
            waitersAfter++;
        } else if (!known.isSame(own, since)) {
            ops.add(TxnOperation.cas(name, known.index(), known.text(own, since)));
        }
    }

    /** The claiming member does not wait after the transaction. */
    void doesNotWait() {
        QueuedMember known = tree.waiting().get(request.session());
        if (known != null) {
            ops.addAll(TxnOperation.deleteUnchanged(tree.names().waiting(request.session()), known.index()));
            waitersAfter--;
        }
    }

    /**
     * What the claiming member cleans up, and the operator's limit.
     *
     * @param unused whether the member neither holds nor waits after the transaction
     */
    void finish(boolean unused) {
        // It would stay in the inbox until the session ends, one for each key in which the member has ever waited.
        if (request.inbox() && unused) {
            ops.add(TxnOperation.delete(tree.names().inbox(request.session())));
        }
        request.override().ifPresent(this::writeOverride);
    }

    /** No session locks it, so that it stays when all members have left. */
    private void writeOverride(OverrideLimit limit) {
        String name = tree.names().override();
        ops.add(
                limit.isPresent()
                        ? TxnOperation.set(name, JsonText.of(Map.of("limit", limit.getAsInt(), "set", limit.text())))
                        : TxnOperation.delete(name));
    }

    /**
     * Whether the member gets or leaves all that it asked for while no member waits; see {@link PlannedTransaction}.
     *
     * @param permits how many the member has after the transaction
     */
    boolean isPlain(int permits) {
        return tree.waiting().isEmpty()
                && waitersAfter == 0
                && request.override().isEmpty()
                && permits == request.wanted();
    }
}
