package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.Work.Checking;
import io.github.distributedpermit.backend.consul.Work.Claiming;
import io.github.distributedpermit.backend.consul.Work.Overriding;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * One claim, or one change of the override: computed on what the lane last saw, committed if nothing has changed since,
 * else computed again. What a transaction leaves behind is looked at as well: if the line could be served then, it is.
 * Confined to the loop.
 */
final class Attempt implements Exchange.Party {

    private final Lane lane;
    private final Work work;
    private final Lane.Host host;
    private final Exchange exchange;
    private final boolean isNew;

    /** Whether the lane's board was read, or left behind by a transaction, since the attempt began. */
    private boolean fresh;
    /** Whether the board is what this member's own last transaction left behind. */
    private boolean own;
    /** Whether the work is done, and only the line is still looked after. */
    private boolean settling;
    /** How many permits the claim leaves to the member at most. */
    private int held = Integer.MAX_VALUE;

    private boolean over;

    Attempt(Lane lane, Work work) {
        this.lane = lane;
        this.work = work;
        this.host = lane.host();
        this.exchange = new Exchange(lane, this);
        this.isNew = work instanceof Claiming claiming ? lane.begin(claiming.claim()) : work instanceof Overriding;
        this.settling = !isNew;
    }

    @Override
    public void begin() {
        host.membership().session().whenComplete((session, failure) -> {
            if (over) {
                return;
            }
            if (session == null) {
                fail(failure);
            } else {
                proceed(session);
            }
        });
    }

    @Override
    public void proceed(Session session) {
        try {
            Board board = lane.board();
            if (board == null || (!isNew && !fresh)) {
                read(session, work instanceof Checking);
            } else {
                compute(session, board);
            }
        } catch (RuntimeException | Error e) { // the key must not stay locked by an attempt that never ends
            fail(e);
        }
    }

    private void compute(Session session, Board board) {
        KeyTable table = board.table();
        Step step = settling ? table.refresh(board.index()) : step(table, session, board);
        Change change = host.layout().plan(board, step, intent(session, board));
        if (change.sessions() > session.all().size()) {
            more(session, change.sessions());
        } else if (change.ops().isEmpty()) {
            if (fresh) {
                answer(session, board);
            } else {
                read(session, false);
            }
        } else if (fresh || change.isPlain()) {
            commit(session, board, change);
        } else {
            read(session, false);
        }
    }

    private Step step(KeyTable table, Session session, Board board) {
        if (work instanceof Claiming claiming) {
            long place = lane.places().place(claiming.arrived(), board.index());
            return table.claim(session.id(), claiming.claim().leaving(held), board.index(), place);
        }
        return table.override(((Overriding) work).limit(), board.index());
    }

    private Intent intent(Session session, Board board) {
        OptionalInt declared = OptionalInt.empty();
        OptionalInt limit = OptionalInt.empty();
        int wanted = 0;
        Optional<OptionalInt> override = Optional.empty();
        if (work instanceof Claiming claiming) {
            declared = OptionalInt.of(claiming.claim().limit());
            limit = OptionalInt.of(board.override().orElse(claiming.claim().limit()));
            wanted = claiming.claim().wanted();
        } else if (work instanceof Overriding overriding && !settling) {
            override = Optional.of(overriding.limit());
            limit = overriding.limit();
        }
        return new Intent(
                session.all(), host.member(), declared, limit, override, wanted, lane.mayHaveMail(), host.nonce());
    }

    /** The layout needs a session for each permit. */
    private void more(Session session, int sessions) {
        host.spares().ensure(session, sessions).whenComplete((done, failure) -> {
            if (over) {
                return;
            }
            if (failure != null) {
                fail(failure);
            } else {
                fresh = false;
                begin();
            }
        });
    }

    /** @param consistent costs the servers a round among themselves; any other read may be out of date */
    private void read(Session session, boolean consistent) {
        List<Op> ops =
                List.of(Op.get(session.fenceKey()), Op.getTree(lane.names().tree()));
        Consumer<Done> next = done -> {
            own = false;
            Board seen = host.layout().read(lane.names(), done.tree());
            if (consistent || missing(session, seen) == 0) {
                see(session, seen);
            } else {
                read(session, true);
            }
        };
        if (consistent) {
            exchange.readConsistently(session, ops, next);
        } else {
            exchange.transact(session, ops, next);
        }
    }

    private int missing(Session session, Board seen) {
        return lane.recorded().missing(seen.permitNames(session.id()));
    }

    private void commit(Session session, Board before, Change change) {
        List<Op> ops = new ArrayList<>(change.ops().size() + 2);
        ops.add(Op.checkIndex(session.fenceKey(), session.fence()));
        ops.addAll(change.ops());
        ops.add(Op.getTree(lane.names().tree()));
        long now = host.loop().now();
        lane.board(null);
        exchange.transact(session, ops, done -> {
            own = true;
            if (change.queues() && work instanceof Claiming claiming) {
                long place = lane.places().place(claiming.arrived(), before.index());
                lane.places().remember(now, place);
            }
            committed(session, before, change, done);
        });
    }

    private void committed(Session session, Board before, Change change, Done done) {
        Board after = host.layout().read(lane.names(), done.tree());
        session.use(after.sessions(session.id()), host.loop().now());
        // who neither holds nor waits has emptied its inbox with the same transaction
        lane.mayHaveMail(change.queues() || (lane.mayHaveMail() && !after.isWithout(session.id())));
        if (change.grants() && isTooMuch(session, before, after)) {
            // nobody has been told of the grant yet
            settling = false;
            held = before.permits(session.id());
        } else {
            settling = !change.isPart();
        }
        see(session, after);
    }

    /**
     * A slot that is free is free for everybody, so that a board which was out of date cannot harm while all go by one
     * limit. With several limits, or an override that was not known, the sum may have become too high; and where the
     * guard was missing somebody may be in line who was not seen.
     */
    private boolean isTooMuch(Session session, Board before, Board after) {
        if (!(work instanceof Claiming claiming)) {
            return false;
        }
        int limit = after.override().orElse(claiming.claim().limit());
        return after.used() > limit || (!before.isGuarded() && after.othersWait(session.id()));
    }

    private void see(Session session, Board seen) {
        int missing = missing(session, seen);
        if (missing > 0) {
            lane.lost(session, seen, missing);
        }
        lane.recorded().seen(seen.permitNames(session.id()), kept());
        lane.board(seen);
        lane.versions().seen(seen.index());
        fresh = true;
        compute(session, seen);
    }

    /** How many permits this claim leaves to the member, however it ends. */
    private int kept() {
        return isNew && work instanceof Claiming claiming
                ? Math.min(
                        held, Math.min(claiming.claim().held(), claiming.claim().wanted()))
                : Integer.MAX_VALUE;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    private void answer(Session session, Board board) {
        over = true;
        if (work instanceof Claiming claiming) {
            lane.recorded().seen(board.permitNames(session.id()), Integer.MAX_VALUE);
            lane.answers();
            claiming.answer(holding(session, board, claiming));
        } else if (work instanceof Overriding overriding) {
            overriding.done().complete(null);
        }
        lane.ended(this);
    }

    private Holding holding(Session session, Board board, Claiming claiming) {
        int limit = board.override().orElse(claiming.claim().limit());
        return new Holding(
                board.permits(session.id()),
                limit,
                lane.sequence(),
                version(session, board),
                board.othersWait(session.id()),
                board.used() > limit,
                Optional.empty());
    }

    private long version(Session session, Board board) {
        Versions versions = lane.versions();
        return isNew ? versions.answer(board, session.id(), own) : versions.again(board, session.id());
    }

    @Override
    public void fail(Throwable failure) {
        if (!over) {
            over = true;
            work.fail(Membership.asStoreException(failure));
            lane.ended(this);
        }
    }
}
