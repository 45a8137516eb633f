package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Carries the claims of one key to the ensemble, one at a time: on a guess, or reads first; commits; reads again when
 * somebody else was quicker. Runs on the event thread of the handle.
 */
final class Flight {

    /** How it ends. */
    interface Outcome {

        /** The claim has taken effect, or had nothing to change. */
        void answered(Attempt attempt, Draft draft, Snapshot at);

        /** Nobody knows whether it has taken effect. */
        void failed(Attempt attempt, Throwable failure);
    }

    private final String path;
    private final MemberContext member;
    private final OwnNode own;
    private final Knowledge knowledge;
    private final Outcome outcome;
    private boolean closed;

    Flight(String path, MemberContext member, OwnNode own, Knowledge knowledge, Outcome outcome) {
        this.path = path;
        this.member = member;
        this.own = own;
        this.knowledge = knowledge;
        this.outcome = outcome;
    }

    void begin(Attempt attempt) {
        Snapshot guess = knowledge.guess(own.name() != null);
        if (guess != null) {
            Draft draft = draft(attempt, guess);
            Holding answer = draft.step().answer().orElseThrow();
            // what is not granted as wanted, or not written, has to be known for certain
            if (!draft.isUnchanged()
                    && draft.withoutWriting(member.member()).isEmpty()
                    && answer.permits() >= attempt.request().claim().wanted()) {
                commit(attempt, draft);
                return;
            }
        }
        read(attempt);
    }

    /** From now on nothing is sent; what was sent before is ahead of whatever is sent next. */
    synchronized void close() {
        closed = true;
    }

    private Draft draft(Attempt attempt, Snapshot snapshot) {
        return knowledge.draft(attempt, member.member(), snapshot);
    }

    private void read(Attempt attempt) {
        long sentAt = member.now();
        member.nodes().read(attempt.link().zk(), path).whenComplete((snapshot, failure) -> {
            if (failure != null) {
                outcome.failed(attempt, failure);
            } else if (member.session().confirmed(attempt.link(), sentAt)) {
                knowledge.read(snapshot);
                own.adopt(snapshot.children());
                own.watch(attempt.link().zk());
                propose(attempt, draft(attempt, snapshot));
            } else {
                outcome.failed(attempt, sessionEnded());
            }
        });
    }

    private void propose(Attempt attempt, Draft proposed) {
        Draft draft = mayStayUnwritten(attempt)
                ? proposed.withoutWriting(member.member()).orElse(proposed)
                : proposed;
        boolean vanishing =
                draft.before().children().isEmpty() && !draft.after().mentions(member.member());
        if (draft.isUnchanged() || vanishing) {
            outcome.answered(attempt, draft, draft.before());
        } else {
            commit(attempt, draft);
        }
    }

    /**
     * Without its node the member joins again. After a claim whose outcome is unknown, the write makes sure that no
     * earlier transaction takes effect once this claim is answered.
     */
    private boolean mayStayUnwritten(Attempt attempt) {
        return attempt.certain() && own.name() != null;
    }

    private void commit(Attempt attempt, Draft draft) {
        int bytes = draft.after().encode().length;
        if (bytes > KeyDocument.MAX_BYTES) {
            outcome.failed(attempt, Faults.tooMany(path, bytes));
            return;
        }
        long sentAt = member.now();
        Sent sent = send(attempt, draft);
        sent.answer().whenComplete((stat, failure) -> {
            if (failure == null) {
                committed(attempt, draft, sent.node(), stat, sentAt);
            } else if (Faults.isConflict(failure)) {
                conflict(attempt, draft, failure);
            } else {
                outcome.failed(attempt, failure);
            }
        });
    }

    private synchronized Sent send(Attempt attempt, Draft draft) {
        Link link = attempt.link();
        if (closed || !link.equals(member.session().link())) {
            return new Sent(null, CompletableFuture.failedFuture(new KeeperException.SessionMovedException()));
        }
        String name = own.name();
        String joining = name == null && draft.after().mentions(member.member()) ? own.join(link.zk()) : null;
        return new Sent(
                name == null ? joining : name,
                member.nodes()
                        .commit(link.zk(), draft.operations(member.nodes(), path, name, joining, member::random)));
    }

    private void committed(Attempt attempt, Draft draft, @Nullable String node, Stat stat, long sentAt) {
        if (!member.session().confirmed(attempt.link(), sentAt)) {
            outcome.failed(attempt, sessionEnded());
            return;
        }
        Snapshot after = new Snapshot(
                draft.after(),
                stat.getVersion(),
                stat.getCzxid(),
                draft.before().children());
        if (node != null) {
            own.joined(node);
            after = after.with(node);
        }
        outcome.answered(attempt, draft, after);
    }

    private void conflict(Attempt attempt, Draft draft, Throwable failure) {
        knowledge.distrust();
        Attempt next = attempt.next();
        if (!draft.before().exists() && Faults.isMissing(failure)) {
            member.nodes().createRoot(attempt.link().zk()).whenComplete((done, e) -> {
                if (e == null) {
                    read(next);
                } else {
                    outcome.failed(next, e);
                }
            });
        } else {
            member.retry(next.number(), () -> read(next));
        }
    }

    private static Exception sessionEnded() {
        return new IllegalStateException("The session has ended");
    }

    /** @param node the member's own, which the transaction makes or rests on */
    private record Sent(@Nullable String node, CompletableFuture<Stat> answer) {}
}
