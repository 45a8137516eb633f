package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The line of one key in this process. Every event takes the lock, changes the {@link LineState}, lets it settle and does
 * what follows from it after the lock is free. Thread-safe; no method blocks.
 */
final class KeyLine extends LineEvents {

    private static final int ANY = -1;

    private final String key;
    private final LineHost host;
    private final LineState state;
    private final LineTimer timer;
    private final ProcessClock clock;
    private final Shortcut shortcut;
    private final Confirmations confirmations = new Confirmations();

    /** Of the calls that may come; a line made by a notice of the store takes over the settings of the first. */
    private volatile int limit;

    private boolean retired;

    KeyLine(String key, Policy policy, boolean stray, boolean closing, LineHost host) {
        this.key = key;
        this.limit = stray ? ANY : policy.limit();
        this.host = host;
        this.state = new LineState(this, policy, closing, host);
        this.timer = new LineTimer(this::timerFired);
        this.clock = new ProcessClock(host, timer, state);
        this.shortcut = new Shortcut(this, state, timer);
    }

    String key() {
        return key;
    }

    @Override
    LineHost host() {
        return host;
    }

    /** Whether calls with this limit may use the line. */
    boolean fits(int other) {
        int own = limit;
        return own == ANY || own == other;
    }

    /** A permit that lies idle here for a call of this limit; {@code null} if the call has to {@link #enter}. */
    @Nullable
    Grant take(NameUse use, int weight, long now) {
        if (weight > state.ledger.idle()) { // without the lock only a hint, which spares the lock where calls wait
            return null;
        }
        synchronized (this) {
            if (broken || retired || limit != use.policy.limit()) {
                return null;
            }
            broken = true;
            try {
                Grant idle = shortcut.take(use, weight, now);
                broken = false;
                return idle;
            } catch (RuntimeException | Error e) {
                host.trouble(this, e);
                throw e;
            }
        }
    }

    /** A call comes. {@code false} if it has to look again: the line is retired, or was just taken over by another limit. */
    boolean enter(Waiter waiter) {
        Effects effects = new Effects(this);
        try {
            synchronized (this) {
                if (retired || !fits(waiter.use.policy.limit())) {
                    return false;
                }
                if (limit == ANY) {
                    state.adopt(waiter.use.policy);
                    limit = waiter.use.policy.limit();
                }
                long now = begin(effects);
                state.enter(waiter, now, effects);
                end(now, effects);
            }
        } catch (RuntimeException | Error e) {
            host.trouble(this, e);
            throw e;
        } finally {
            effects.runAll();
        }
        return true;
    }

    /** A call has decided by itself to wait no longer. */
    void left(Waiter waiter) {
        event((now, effects) -> state.waiters.remove(waiter));
    }

    /** How a call's wait ends at its own time-out. */
    synchronized Outcome atTimeout(Waiter waiter) {
        return state.contact.atTimeout(waiter, clock.now());
    }

    /** Until when a call may wait on for the answer of the store, its own time being over; 0 if not at all. */
    synchronized long extendedTime(Waiter waiter) {
        return state.contact.extendedTime(waiter, clock.now());
    }

    /**
     * A call gives its permit back, and waits for the store if the settings say so. Of no effect the second time. Once it
     * is noted that the call has ended, the permit comes back whatever happens, so an error after that is not the caller's.
     */
    void release(Grant grant) {
        CompletableFuture<Void> confirmation = null;
        Effects effects = null;
        try {
            synchronized (this) {
                if (grant.ended) {
                    return;
                }
                grant.ended = true;
                boolean whole = !broken;
                broken = true;
                grant.showEnd();
                if (whole && shortcut.giveBack(grant)) {
                    broken = false;
                } else {
                    broken = !whole;
                    effects = new Effects(this);
                    confirmation = settleReturn(grant, effects);
                }
            }
        } catch (RuntimeException | Error e) {
            markBroken();
            host.trouble(this, e);
        } finally {
            if (effects != null) {
                effects.runAll();
            }
        }
        host.released(grant);
        if (confirmation != null) {
            host.awaitReturn(confirmation);
        }
    }

    /** Ends when the store has confirmed it; {@code null} if there is nothing to wait for. */
    private @Nullable CompletableFuture<Void> settleReturn(Grant grant, Effects effects) {
        boolean mended = broken;
        long now = begin(effects);
        boolean returned = state.release(grant, now, effects);
        if (returned || mended) {
            settle(now, effects);
        }
        boolean awaited = returned && state.policy().release() == Release.SYNC && state.plan.owes() && !retired;
        CompletableFuture<Void> confirmation = awaited ? confirmations.await(state.plan) : null;
        broken = false;
        return confirmation;
    }

    /** The store has answered a claim. */
    void answered(long sequence, Holding holding) {
        event((now, effects) -> {
            state.contact.landed(sequence, now, effects);
            takeIn(holding, now, effects);
        });
    }

    /** The store has told of a grant unasked. */
    void pushed(Holding holding) {
        event((now, effects) -> takeIn(holding, now, effects));
    }

    private void takeIn(Holding holding, long now, Effects effects) {
        if (!retired) {
            state.takeIn(holding, now, effects);
        } else if (holding.permits() > 0) {
            effects.run(() -> host.granted(key, holding));
        }
    }

    /** A claim has failed. */
    void failed(long sequence, Throwable cause) {
        event((now, effects) -> state.contact.failed(sequence, cause, now, effects));
    }

    /** Something about the key has changed. */
    void changed() {
        event((now, effects) -> state.changed());
    }

    /** The store can be reached again. */
    void reachable() {
        event((now, effects) -> state.plan.backoff.lift());
    }

    /** Permits that lie idle here are to go back. */
    void recall() {
        event((now, effects) -> state.recall());
    }

    /** The member's session is gone, and with it all its records: whichever event is the first to begin finds that. */
    void sessionLost() {
        event((now, effects) -> {});
    }

    /** Looks at the clock: the member's session may have become untrustworthy. */
    void check() {
        event((now, effects) -> {});
    }

    /** Leaves the line and takes no more calls; those that hold permits go on. */
    void close() {
        event((now, effects) -> state.close(effects));
    }

    /** No more renewals and repetitions: the store has been left. */
    void abandon() {
        Effects effects = new Effects(this);
        synchronized (this) {
            retire(effects);
        }
        effects.runAll();
    }

    /** Whether the permit is backed by an answer that may still be relied on. */
    synchronized boolean isValid(Grant grant) {
        return grant.counted && host.now() < state.validUntil();
    }

    /** Whether calls hold permits. */
    synchronized boolean isInUse() {
        return state.ledger.inUse() > 0;
    }

    /**
     * Since when a claim has been without an answer, or the line has waited for its timer. A key that the store refuses for
     * good, such as one of a foreign type, is answered: it says nothing against this instance, and its calls are told.
     */
    synchronized long dueSince() {
        return state.contact.isRefused() ? timer.at() : Math.min(state.plan.unconfirmedSince(), timer.at());
    }

    /** The alarm could not be set. */
    synchronized void alarmFailed(Alarm which) {
        timer.failed(which);
    }

    private void timerFired() {
        try {
            event((now, effects) -> {
                timer.fired();
                if (!retired && state.isUnused(now)) {
                    retire(effects);
                }
            });
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                timer.fired(); // so that the next event sets it anew
            }
            throw e;
        }
    }

    @Override
    KeyLine line() {
        return this;
    }

    @Override
    long now() {
        return clock.now();
    }

    @Override
    LineState state() {
        return state;
    }

    @Override
    void settle(long now, Effects effects) {
        if (retired) {
            return;
        }
        state.settle(now, effects);
        confirmations.settle(state.plan, state.ledger.appliedSequence(), effects);
        boolean leaving = state.isClosing() && state.ledger.inUse() == 0;
        if (leaving && state.isUnused(now)) {
            retire(effects);
            return;
        }
        timer.arm(state.nextTime(now), now, effects);
        if (leaving) {
            effects.run(host::progress);
        }
    }

    private void retire(Effects effects) {
        retired = true;
        timer.stop(effects);
        host.retired(this);
        if (state.isClosing()) {
            effects.run(host::progress);
        }
    }
}
