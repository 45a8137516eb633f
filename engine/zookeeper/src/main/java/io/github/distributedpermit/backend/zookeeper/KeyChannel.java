package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A member's use of one key: its node there, and its claims, one at a time. Thread-safe; nothing that could call back is
 * called with the lock held.
 */
final class KeyChannel implements Flight.Outcome {

    private final String key;
    private final String path;
    private final MemberContext member;
    private final OwnNode own;
    private final Knowledge knowledge = new Knowledge();
    private final Flight flight;
    private final ReentrantLock lock = new ReentrantLock();

    private final Pending pending = new Pending();
    /** A claim, a departure or the removal of the node is on its way. */
    private boolean busy;

    private boolean retired;
    private final UnknownOutcome unknown = new UnknownOutcome();
    /** An earlier session may have left a record, which nobody will claim back. */
    private boolean departing;

    private final LatestHolding latest = new LatestHolding();
    private long lastUsed;

    KeyChannel(String key, MemberContext member) {
        this.key = key;
        this.path = member.nodes().path(key);
        this.member = member;
        this.own = new OwnNode(this, path, member);
        this.flight = new Flight(path, member, own, knowledge, this);
        this.lastUsed = member.now();
    }

    String key() {
        return key;
    }

    String path() {
        return path;
    }

    OwnNode own() {
        return own;
    }

    /** {@code false} if the key needs a new channel. */
    boolean claim(Claim claim, CompletableFuture<Holding> answer) {
        lock.lock();
        try {
            if (retired) {
                return false;
            }
            pending.add(Request.of(claim, member.now(), answer));
        } finally {
            lock.unlock();
        }
        pump();
        return true;
    }

    /** Sends what waits, unless something is on its way or there is no session. */
    private void pump() {
        Link link = member.session().link();
        Attempt attempt;
        lock.lock();
        try {
            pending.forgetAbandoned();
            if (busy || link == null) {
                return;
            }
            Request next = pending.send();
            if (next == null) {
                return;
            }
            attempt = new Attempt(link, next, 0, unknown.isNone(), latest.answered());
            busy = true;
            departing = false; // the claim says what is to be left
        } finally {
            lock.unlock();
        }
        flight.begin(attempt);
    }

    @Override
    public void answered(Attempt attempt, Draft draft, Snapshot at) {
        long now = member.now();
        Holding holding;
        List<String> remains;
        lock.lock();
        try {
            knowledge.learn(at, attempt, draft, now);
            holding = latest.answered(at.absolute(draft.step().answer().orElseThrow()), draft.recorded());
            unknown.answered();
            busy = false;
            lastUsed = now;
            remains = remains(attempt.link());
        } finally {
            lock.unlock();
        }
        own.remains().delete(attempt.link().zk(), remains);
        if (attempt.request().answers().isEmpty() && holding.permits() > 0) {
            member.listener().granted(key, holding);
        }
        attempt.request().complete(holding);
        pump();
    }

    @Override
    public void failed(Attempt attempt, Throwable failure) {
        if (Faults.isSessionLoss(failure)) {
            member.session().expired(attempt.link());
        }
        lock.lock();
        try {
            boolean sameSession = attempt.link().equals(member.session().link());
            unknown.failed(attempt.request().claim(), sameSession);
            departing = departing || !sameSession;
            knowledge.forget();
            busy = false;
            lastUsed = member.now();
        } finally {
            lock.unlock();
        }
        attempt.request().fail(Faults.translate(key, failure));
        pump();
    }

    /** Another member has served this one. */
    void served(Holding notice) {
        Holding holding;
        lock.lock();
        try {
            knowledge.distrust();
            holding = latest.notified(notice);
        } finally {
            lock.unlock();
        }
        member.listener().granted(key, holding);
    }

    /** The member's node was deleted by hand: to all others the member is dead, and has nothing. */
    void evicted() {
        Holding gone;
        lock.lock();
        try {
            knowledge.forget();
            gone = latest.gone();
        } finally {
            lock.unlock();
        }
        if (gone != null) {
            member.listener().granted(key, gone);
            member.listener().changed(key);
        }
    }

    /** What was bound to the session is lost. */
    void sessionLost() {
        Request dropped;
        lock.lock();
        try {
            dropped = pending.drop();
            unknown.sessionLost();
            departing = own.giveUp() || departing;
            knowledge.forget();
        } finally {
            lock.unlock();
        }
        if (dropped != null) {
            dropped.fail(Faults.translate(key, new IllegalStateException("The session has ended")));
        }
    }

    /** There is a session: sends what waits, else drops what an earlier session may have left. */
    void settle(Link link) {
        own.watch(link.zk());
        repeatUnsettled();
        pump();
        boolean departs;
        List<String> remains;
        lock.lock();
        try {
            departs = departing && !busy && !retired;
            busy = busy || departs;
            remains = remains(link);
        } finally {
            lock.unlock();
        }
        own.remains().delete(link.zk(), remains);
        if (departs) {
            depart(link);
        }
    }

    /** Meanwhile no claim is sent. The nodes go after the record: see {@link Remains}. */
    private void depart(Link link) {
        Remains remains = own.remains();
        new Departure(member, path, link)
                .begin()
                .thenCompose(done -> remains.delete(link.zk(), remains.of(link.zk())))
                .whenComplete((done, failure) -> {
                    lock.lock();
                    try {
                        busy = false;
                        departing = failure != null && departing;
                    } finally {
                        lock.unlock();
                    }
                    pump();
                });
    }

    /** The nodes that can be deleted with what is known now. */
    private List<String> remains(Link link) {
        boolean replaced = own.name() != null || knowledge.isFreeOf(member.member());
        return busy || departing || !replaced ? List.of() : own.remains().of(link.zk());
    }

    /** The core has not said anything since; perhaps it never will. */
    private void repeatUnsettled() {
        long now = member.now();
        lock.lock();
        try {
            Claim claim = unknown.due(now, lastUsed);
            if (claim != null && !busy && pending.isEmpty()) {
                pending.add(Request.again(claim, now));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the member neither holds nor waits and has not for a while; if so, its claims wait until {@link #left}.
     *
     * @param idle the while
     */
    boolean beginLeaving(long now, long idle) {
        lock.lock();
        try {
            boolean clean = unknown.isSettled() && !departing && own.remains().isEmpty();
            boolean inUse = busy || retired || !pending.isEmpty() || !clean;
            boolean free = own.name() == null || knowledge.isFreeOf(member.member());
            busy = busy || (!inUse && free && now - lastUsed >= idle);
            return !inUse && busy;
        } finally {
            lock.unlock();
        }
    }

    /** The member's node is gone, or could not be deleted. Returns whether the channel is of no use any more. */
    boolean left(boolean gone) {
        boolean useless;
        lock.lock();
        try {
            busy = false;
            if (gone) {
                knowledge.forget();
                own.forget();
                retired = retired || pending.isEmpty();
            }
            useless = retired;
        } finally {
            lock.unlock();
        }
        pump();
        return useless;
    }

    /** Nothing more is sent; what waits fails. Returns the paths of the nodes that the member may have here. */
    List<String> close(Throwable reason) {
        Request dropped;
        lock.lock();
        try {
            retired = true;
            dropped = pending.drop();
        } finally {
            lock.unlock();
        }
        flight.close();
        if (dropped != null) {
            dropped.fail(reason);
        }
        return own.leaveForGood();
    }
}
