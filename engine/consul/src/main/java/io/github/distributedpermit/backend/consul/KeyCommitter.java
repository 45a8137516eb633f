package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.ConsulApi.OutcomeUnknownException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
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
 */
final class KeyCommitter {

    private static final System.Logger LOG = System.getLogger(KeyCommitter.class.getName());

    private final Membership membership;
    private final AdditionalSessions additional;
    private final ConsulApi api;
    private final KeyLayout layout;
    private final EventLoop loop;
    private final String member;
    private final UnaryOperator<String> nonces;

    KeyCommitter(
            Membership membership,
            AdditionalSessions additional,
            ConsulApi api,
            KeyLayout layout,
            EventLoop loop,
            String member,
            UnaryOperator<String> nonces) {
        this.membership = membership;
        this.additional = additional;
        this.api = api;
        this.layout = layout;
        this.loop = loop;
        this.member = member;
        this.nonces = nonces;
    }

    /**
     * Whether to try the change, by which the member gets or leaves all that it asks for, although its snapshot may be out of date:
     * only while no member waits. Others mostly fail, and a failed transaction is an entry in the log of all servers. A claim that
     * changes no permit needs an answer from a new snapshot. This is a first look, which plans nothing; {@link #commit} makes the
     * one plan of the change, and does not send it if it turns out to be another one. Thread-safe.
     */
    static boolean isPlain(PlannedCommit<ConsulSnapshot> planned) {
        KeyTree before = planned.before().tree();
        return before.waiting().isEmpty()
                && !planned.changesOverride()
                && before.permits(planned.member())
                        != planned.claim().map(Claim::wanted).orElse(0);
    }

    /** Commits a change when the session is ready. */
    CompletableFuture<Commit<ConsulSnapshot>> commit(KeyUse use, PlannedCommit<ConsulSnapshot> planned) {
        return membership
                .session()
                .thenApply(session -> commit(use, planned, session))
                .exceptionally(failure -> ended(new Commit.Denied<>(Membership.asStoreException(failure))))
                .thenCompose(outcome -> outcome);
    }

    private CompletableFuture<Commit<ConsulSnapshot>> commit(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session) {
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
        if (change.sessions() > session.all().size()) {
            return additional
                    .ensure(session, change.sessions())
                    .thenApply(done -> commit(use, planned))
                    .exceptionally(failure -> ended(new Commit.Denied<>(Membership.asStoreException(failure))))
                    .thenCompose(outcome -> outcome);
        }
        if (change.ops().isEmpty()) {
            // such as a change of the sequence, which Consul does not record; on an old snapshot that proves nothing
            return ended(planned.fresh() ? new Commit.DoneUnchecked<>(planned.before()) : new Commit.Conflict<>());
        }
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

    private PlannedTransaction plan(PlannedCommit<ConsulSnapshot> planned, List<String> sessions, boolean inbox) {
        KeyTree before = planned.before().tree();
        Optional<Claim> claim = planned.claim();
        OptionalInt override = planned.after().override();
        boolean overrides = !override.equals(before.override());
        OptionalInt declared = claim.map(c -> OptionalInt.of(c.limit())).orElse(OptionalInt.empty());
        ChangeRequest request = new ChangeRequest(
                sessions,
                member,
                declared,
                override.isPresent() ? override : declared,
                overrides ? Optional.of(override) : Optional.empty(),
                claim.map(Claim::wanted).orElse(0),
                inbox,
                nonces.apply(planned.member()));
        return before.plan(planned.step(), request);
    }

    private CompletableFuture<Commit<ConsulSnapshot>> send(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change) {
        List<TxnOperation> ops = new ArrayList<>(change.ops().size() + 2);
        ops.add(TxnOperation.checkIndex(session.fenceKey(), session.fence()));
        ops.addAll(change.ops());
        ops.add(TxnOperation.getTree(use.names().tree()));
        long fence = session.fence(); // as checked by this transaction; it may be rewritten before the answer arrives
        use.outdated();
        if (change.queues()) {
            use.mayHaveNotice(true); // even if no answer arrives: other members serve this one as soon as it waits
        }
        return api.transact(ops)
                .handle((outcome, failure) -> {
                    if (failure != null) {
                        return ended(failed(session, failure));
                    }
                    if (session.isOver()) {
                        return ended(new Commit.SessionLost<>(Session.lost()));
                    }
                    return outcome instanceof Done done
                            ? ended(committed(use, planned, session, change, done))
                            : refused(session, (Refused) outcome, fence);
                })
                .thenCompose(outcome -> outcome);
    }

    private Commit<ConsulSnapshot> failed(Session session, Throwable failure) {
        PermitStoreException reason = Membership.asStoreException(failure);
        if (PermitStoreException.causeOf(failure) instanceof OutcomeUnknownException) {
            membership.outcomeUnknown(session);
            return new Commit.OutcomeUnknown<>(reason);
        }
        return new Commit.Denied<>(reason);
    }

    /** Remembers what the transaction has read of the key after the change, and finds out whether all of it is done. */
    private Commit<ConsulSnapshot> committed(
            KeyUse use, PlannedCommit<ConsulSnapshot> planned, Session session, PlannedTransaction change, Done done) {
        KeyTree before = planned.before().tree();
        KeyTree after;
        try {
            after = layout.read(use.names(), done.tree());
        } catch (PermitStoreException e) {
            return new Commit.OutcomeUnknown<>(e); // another client wrote invalid data; the change itself was committed
        }
        session.use(after.sessions(session.id()), loop.now());
        // a member that neither holds nor waits has emptied its inbox with the same transaction
        use.mayHaveNotice(change.queues() || (use.mayHaveNotice() && !after.isWithout(session.id())));
        ConsulSnapshot snapshot = use.received(session, after, true);
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
     */
    private static boolean isTooMuch(
            PlannedCommit<ConsulSnapshot> planned, Session session, KeyTree before, KeyTree after) {
        int own = planned.claim()
                .map(Claim::limit)
                .or(() -> before.record(session.id()).map(PermitRecord::limit))
                .orElse(Integer.MAX_VALUE);
        int limit = after.override().orElse(own);
        return after.used() > limit || (!before.isGuarded() && after.othersWait(session.id()));
    }

    /**
     * Nothing of the transaction was executed. The reason decides: a missing right, the end of the session, or a change by
     * another member.
     *
     * @param fence the index of the fence that the transaction has checked
     */
    private CompletableFuture<Commit<ConsulSnapshot>> refused(Session session, Refused refused, long fence) {
        boolean byFence = refused.operation() == 0 && refused.names(session.fenceKey());
        if (refused.isDenied()) {
            return ended(new Commit.Denied<>(Membership.refused(refused)));
        }
        if ((refused.isInvalidSession() && refused.names(session.id())) || (byFence && refused.names("exist"))) {
            // it may still exist: a new leader that has not replayed its whole log does not find it
            return membership
                    .confirmLoss(session)
                    .thenApply(lost -> lost || session.isOver()
                            ? new Commit.SessionLost<>(Session.lost())
                            : new Commit.Conflict<>());
        }
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
