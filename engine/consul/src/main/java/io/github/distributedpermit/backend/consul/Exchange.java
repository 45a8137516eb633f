package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.ConsulApi.InDoubtException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The transactions of one attempt, and how they can end: done, in doubt, lost with the session, denied, or overtaken by
 * somebody else's, which is tried again until the attempt has taken too long. Confined to the loop.
 */
final class Exchange {

    private static final System.Logger LOG = System.getLogger(Exchange.class.getName());

    private static final int PATIENT_CONFLICTS = 2;
    private static final long CONFLICT_PAUSE = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LONGEST_CONFLICT_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Lane lane;
    private final Lane.Host host;
    private final Party party;
    private final Backoff conflictPause = new Backoff(CONFLICT_PAUSE, LONGEST_CONFLICT_PAUSE);
    private final long deadline;
    private int conflicts;

    /** Whose transactions they are. */
    interface Party {

        /** Whether it needs no answers any more. */
        boolean isOver();

        /** Goes on from the question which session there is. */
        void begin();

        /** Goes on in this session. */
        void proceed(Session session);

        void fail(Throwable failure);
    }

    Exchange(Lane lane, Party party) {
        this.lane = lane;
        this.host = lane.host();
        this.party = party;
        this.deadline = host.loop().now()
                + 2 * TimeUnit.NANOSECONDS.convert(host.settings().requestTimeout());
    }

    /** @param next goes on if it was done */
    void transact(Session session, List<Op> ops, Consumer<Done> next) {
        go(session, host.api().transact(ops), next);
    }

    /**
     * Reads what a leader that has replayed all of its log has.
     *
     * @param next goes on if it was done
     */
    void readConsistently(Session session, List<Op> ops, Consumer<Done> next) {
        go(session, host.api().readConsistently(ops), next);
    }

    private void go(Session session, CompletableFuture<TxnOutcome> answer, Consumer<Done> next) {
        long fence = session.fence();
        lane.sends(session);
        answer.whenComplete((outcome, failure) -> {
            if (failure != null) {
                failed(session, failure);
                return;
            }
            if (party.isOver()) {
                return;
            }
            if (session.isOver()) {
                party.fail(Session.lost());
                return;
            }
            try {
                if (outcome instanceof Done done) {
                    next.accept(done);
                } else if (outcome instanceof Refused refused) {
                    refused(session, refused, fence);
                }
            } catch (RuntimeException | Error e) {
                party.fail(e);
            }
        });
    }

    private void failed(Session session, Throwable failure) {
        lane.board(null);
        if (ConsulApi.cause(failure) instanceof InDoubtException) {
            host.membership().inDoubt(session);
        }
        party.fail(failure);
    }

    private void refused(Session session, Refused refused, long fence) {
        lane.board(null);
        boolean byFence = refused.operation() == 0 && refused.names(session.fenceKey());
        if (refused.isDenied()) {
            party.fail(Membership.refused(refused));
        } else if ((refused.isInvalidSession() && refused.names(session.id())) || (byFence && refused.names("exist"))) {
            // a leader that has not replayed all of its log does not have the session yet either
            host.membership().confirmLoss(session).thenAccept(lost -> {
                if (party.isOver()) {
                    return;
                }
                if (lost || session.isOver()) {
                    party.fail(Session.lost());
                } else {
                    conflict(false, session, fence);
                }
            });
        } else if (refused.isInvalidSession() || refused.isConflict()) {
            LOG.log(System.Logger.Level.TRACE, () -> "Repeated: " + refused.reason());
            conflict(byFence, session, fence);
        } else {
            party.fail(Membership.refused(refused));
        }
    }

    /** Reads again; from the third time on after a pause, for a lost transaction costs Consul as much as another. */
    private void conflict(boolean byFence, Session session, long fence) {
        conflicts++;
        if (host.loop().now() > deadline) {
            party.fail(PermitStoreException.passing(
                    "Others were quicker %d times at key %s"
                            .formatted(conflicts, lane.names().encoded()),
                    null));
        } else if (byFence) {
            if (session.fence() == fence) {
                // not written anew since: one that was given up as unanswered has arrived late, and nobody knows of it
                host.membership().inDoubt(session);
            }
            party.begin();
        } else if (conflicts <= PATIENT_CONFLICTS) {
            party.proceed(session);
        } else {
            host.loop().later(party::begin, conflictPause.next());
        }
    }
}
