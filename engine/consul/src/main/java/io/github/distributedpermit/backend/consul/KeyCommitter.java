package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.ConsulApi.OutcomeUnknownException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * Commits changes of keys, each as one transaction of Consul. Its first operation checks the index of the fence, which
 * is a key that belongs to the {@link Session}: a transaction of unknown outcome can no longer commit after the
 * {@link Membership} has rewritten the fence. The last operation reads the key as the transaction leaves it. Confined
 * to the event loop, except {@link #isPlain}.
 *
 * <p>The change itself is planned by {@link SlotPlan} or {@link LockFilePlan} through {@link KeyTree#plan}; this class sends
 * it, and turns the answer into a {@link Commit}. Three things keep the limit: the checks of the plan, the fence, and the
 * comparison of the committed tree with the limit.
 */
final class KeyCommitter {

    private static final System.Logger LOG = System.getLogger(KeyCommitter.class.getName());

    private final Membership membership;
    private final AdditionalSessions additional;
    private final ConsulApi api;
    private final KeyLayout layout;
    private final String member;
    /** Makes a nonce that begins with the given session. */
    private final UnaryOperator<String> nonces;

    KeyCommitter(
            Membership membership,
            AdditionalSessions additional,
            ConsulApi api,
            KeyLayout layout,
            String member,
            UnaryOperator<String> nonces) {
        this.membership = membership;
        this.additional = additional;
        this.api = api;
        this.layout = layout;
        this.member = member;
        this.nonces = nonces;
    }

    /**
     * Whether to try the change, by which the member gets or leaves all that it asks for, although its snapshot may
     * be out of date: only while no member waits. Others mostly fail, and a failed transaction is an entry in the log
     * of all servers. A claim that changes no permit needs an answer from a new snapshot. This is a first look, which
     * plans nothing; {@link #commit} makes the one plan of the change, and does not send it if it turns out to be
     * another one. Thread-safe. The first change of a key is plain as well: its assumed snapshot has no waiting
     * member and no permit.
     */
    static boolean isPlain(PlannedCommit<ConsulSnapshot> planned) {
        KeyTree before = planned.before().tree();
        return before.waiting().isEmpty()
                && !planned.changesOverride()
                && before.permits(planned.member())
                        != planned.claim().map(c -> c.counts().wanted()).orElse(0);
    }

    /** Commits a change when the session is ready. */
    CompletableFuture<Commit<ConsulSnapshot>> commit(KeyUse use, PlannedCommit<ConsulSnapshot> planned) {
        return membership
                .session()
                .thenApply(session -> commit(use, planned, session))
                .exceptionally(failure -> ended(new Commit.Denied<>(Membership.asStoreException(failure))))
                .thenCompose(outcome -> outcome);
    }

    /** @param session ready: its fence was written after the last transaction of unknown outcome */
    private CompletableFuture<Commit<ConsulSnapshot>> commit(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session) {
        // The plan names another session in its operations, which Consul has deleted or is about to delete.
        if (!session.id().equals(planned.member())) {
            return ended(new Commit.SessionLost<>(Session.lost()));
        }
        PlannedTransaction change;
        try {
            change = plan(planned, session.all(), use.mayHaveNotice());
        } catch (PermitStoreException e) {
            if (planned.fresh()) {
                throw e;
            }
            return ended(new Commit.Conflict<>()); // the cached snapshot may be the cause, so the key is read first
        }
        // The layout needs one session for each permit. The change is planned again with the new ones.
        if (change.needed() > session.all().size()) {
            return additional
                    .grow(session, change.needed())
                    .thenApply(done -> commit(use, planned))
                    .exceptionally(failure -> ended(new Commit.Denied<>(Membership.asStoreException(failure))))
                    .thenCompose(outcome -> outcome);
        }
        if (change.ops().isEmpty()) {
            // such as a change of the sequence, which Consul does not record; on an old snapshot that proves nothing
            return ended(planned.fresh() ? new Commit.DoneUnchecked<>(planned.before()) : new Commit.Conflict<>());
        }
        // The first look took the change for a plain one; on a snapshot that may be out of date others are not sent.
        if (!planned.fresh() && !change.isPlain()) {
            return ended(new Commit.Conflict<>());
        }
        int left = planned.after()
                .view(planned.member(), planned.before().version())
                .map(Holding::permits)
                .orElse(0);
        // From here on fewer permits may be recorded, even if no answer arrives. A check must not report the others as
        // deleted from outside.
        use.recorded().atMost(left);
        return send(use, planned, session, change);
    }

    private static CompletableFuture<Commit<ConsulSnapshot>> ended(Commit<ConsulSnapshot> outcome) {
        return CompletableFuture.completedFuture(outcome);
    }

    /**
     * Throws a permanent {@link PermitStoreException} if the key must not be changed, such as one that other clients
     * hold with another limit.
     */
    private PlannedTransaction plan(PlannedCommit<ConsulSnapshot> planned, List<String> sessions, boolean inbox) {
        KeyTree before = planned.before().tree();
        Optional<Claim> claim = planned.claim();
        OverrideLimit override = planned.after().override();
        boolean overrides = !override.equals(before.override());
        OptionalInt declared =
                claim.map(c -> OptionalInt.of(c.counts().limit())).orElse(OptionalInt.empty());
        ChangeRequest request = new ChangeRequest(
                sessions,
                member,
                declared,
                override.isPresent() ? OptionalInt.of(override.limit()) : declared,
                overrides ? Optional.of(override) : Optional.empty(),
                claim.map(c -> c.counts().wanted()).orElse(0),
                inbox,
                nonces.apply(planned.member()));
        return before.plan(planned.step(), request);
    }

    /** Consul executes the operations in their order, and all or none of them. */
    private CompletableFuture<Commit<ConsulSnapshot>> send(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change) {
        List<TxnOperation> ops = new ArrayList<>(change.ops().size() + 2);
        // First, so that a refusal by the fence is recognised by the number of its operation.
        ops.add(TxnOperation.checkIndex(session.fenceKey(), session.fence()));
        ops.addAll(change.ops());
        ops.add(TxnOperation.getTree(use.names().tree()));
        long fence = session.fence(); // as checked by this transaction; it may be rewritten before the answer arrives
        // Until the answer arrives the last tree may be out of date, and so must not prove anything in a check.
        use.outdated();
        use.mayUse(change.sessions());
        if (change.queues()) {
            use.mayHaveNotice(true); // even if no answer arrives: other members serve this one as soon as it waits
        }
        return api.transact(ops)
                .handle((outcome, failure) -> {
                    if (failure != null) {
                        return ended(failed(planned, session, change, failure));
                    }
                    // Consul deletes what the transaction wrote, together with the session.
                    if (session.isOver()) {
                        return ended(new Commit.SessionLost<>(Session.lost()));
                    }
                    return outcome instanceof Done done
                            ? ended(committed(use, planned, session, change, done))
                            : refused(session, (Refused) outcome, fence);
                })
                .thenCompose(outcome -> outcome);
    }

    /**
     * No other transaction of this member starts until the fence was rewritten, because this one may still be
     * executed. If it was, what it granted has not been compared with the limit, see {@link #isTooMuch}; so the next claim
     * returns that and is computed again. The member's calls do not use it, since they received no answer.
     */
    private Commit<ConsulSnapshot> failed(
            PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change, Throwable failure) {
        PermitStoreException reason = Membership.asStoreException(failure);
        // Any other failure shows that nothing was sent, or that Consul has refused the request.
        if (PermitStoreException.causeOf(failure) instanceof OutcomeUnknownException) {
            membership.outcomeUnknown(session);
            return new Commit.OutcomeUnknown<>(reason, mayKeep(planned, session, change));
        }
        return new Commit.Denied<>(reason);
    }

    /** How many permits the member may keep if the answer to this change was not read. */
    private static int mayKeep(PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change) {
        return change.grants() ? planned.before().tree().permits(session.id()) : Integer.MAX_VALUE;
    }

    /** Remembers what the transaction has read of the key after the change, and finds out whether all of it is done. */
    private Commit<ConsulSnapshot> committed(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change, Done done) {
        KeyTree before = planned.before().tree();
        KeyTree after;
        try {
            // The tree contains the state of the moment at which the transaction was executed.
            after = layout.read(use.names(), done.tree());
        } catch (PermitStoreException e) {
            // another client wrote invalid data; the change itself was committed
            return new Commit.OutcomeUnknown<>(e, mayKeep(planned, session, change));
        }
        // a member that neither holds nor waits has emptied its inbox with the same transaction
        use.mayHaveNotice(change.queues() || (use.mayHaveNotice() && !after.isWithout(session.id())));
        ConsulSnapshot snapshot = use.received(session, after, true);
        // The next change returns the permits that it got too much. No member was notified of them, so that no call
        // uses them.
        if (change.grants() && isTooMuch(planned, session, before, after)) {
            return new Commit.Part<>(snapshot, before.permits(session.id()));
        }
        return change.isPart() ? new Commit.Part<>(snapshot, Integer.MAX_VALUE) : new Commit.DoneUnchecked<>(snapshot);
    }

    /**
     * Whether the member got more than it may keep. A transaction only checks that the slots it takes are free, which
     * is enough while all members state the same limit. With different limits, or an override that the snapshot did not
     * contain, the sum may exceed the limit. Without the guard of the queue, see {@link KeyTree#isGuarded}, a member
     * may be waiting that the snapshot did not contain.
     *
     * <p>A transaction that serves members of the queue changes the guard, so that nothing else was granted since its snapshot. The
     * sum may be above the limit of this member then, because one behind it was served under a higher limit.
     */
    private static boolean isTooMuch(
            PlannedCommit<ConsulSnapshot> planned, Session session, KeyTree before, KeyTree after) {
        // Without a claim, as when the queue is served, it is the limit that the member stated in its entry.
        int own = planned.claim()
                .map(c -> c.counts().limit())
                .or(() -> before.record(session.id()).map(PermitRecord::limit))
                .orElse(Integer.MAX_VALUE);
        // The limit of the served member itself: another member may state a higher one for the same key.
        int limit = after.override().orElse(own);
        boolean mayExceed = planned.step().served().isEmpty();
        return (mayExceed && after.used() > limit) || (!before.isGuarded() && after.othersWait(session.id()));
    }

    /**
     * Nothing of the transaction was executed. The reason decides: a missing right, the end of the session, or a change by
     * another member.
     *
     * @param fence the index of the fence that the transaction has checked
     */
    private CompletableFuture<Commit<ConsulSnapshot>> refused(Session session, Refused refused, long fence) {
        // The fence has another index or does not exist; each case has another meaning.
        boolean byFence = refused.operation() == 0 && refused.names(session.fenceKey());
        // The most certain reason first: the text of a missing right could contain a word of another reason.
        if (refused.isDenied()) {
            return ended(new Commit.Denied<>(Membership.refused(refused)));
        }
        if ((refused.isInvalidSession() && refused.names(session.id())) || (byFence && refused.isMissingKey())) {
            // it may still exist: a new leader that has not replayed its whole log does not find it
            return membership
                    .confirmLoss(session)
                    .thenApply(lost -> lost || session.isOver()
                            ? new Commit.SessionLost<>(Session.lost())
                            : new Commit.Conflict<>());
        }
        // An unclassified reason is not repeated, since the repetition might never end.
        if (!refused.isInvalidSession() && !refused.isConflict()) {
            return ended(new Commit.Denied<>(Membership.refused(refused)));
        }
        LOG.log(System.Logger.Level.TRACE, () -> "Repeated: " + refused.reason());
        if (byFence && session.fence() == fence) {
            // Consul has executed a delayed write of the fence, which had been given up as unanswered
            membership.outcomeUnknown(session);
        }
        return ended(new Commit.Conflict<>());
    }
}
