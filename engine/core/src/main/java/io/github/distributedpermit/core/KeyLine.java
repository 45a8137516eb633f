package io.github.distributedpermit.core;

import io.github.distributedpermit.core.Outcome.Failed;
import io.github.distributedpermit.core.Outcome.Refused;
import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The line of one key in this process. Every event takes the lock, changes the {@link LineState}, lets it settle and does
 * what follows from it after the lock is free. Thread-safe; no method blocks.
 */
final class KeyLine {

    private static final int ANY = -1;

    private final String key;
    private final LineHost host;
    private final ReentrantLock lock = new ReentrantLock();
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
        this.timer = new LineTimer(host, this::timerFired);
        this.clock = new ProcessClock(host, timer, state);
        this.shortcut = new Shortcut(this, state, timer);
    }

    String key() {
        return key;
    }

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
        lock.lock();
        try {
            return retired || limit != use.policy.limit() ? null : shortcut.take(use, weight, now);
        } finally {
            lock.unlock();
        }
    }

    /** A call comes. {@code false} if it has to look again: the line is retired, or was just taken over by another limit. */
    boolean enter(Waiter waiter) {
        Effects effects = new Effects(host);
        lock.lock();
        try {
            if (retired || !fits(waiter.use.policy.limit())) {
                return false;
            }
            if (limit == ANY) {
                state.adopt(waiter.use.policy);
                limit = waiter.use.policy.limit();
            }
            long now = begin(effects);
            state.enter(waiter, now, effects);
            settle(now, effects);
        } finally {
            lock.unlock();
        }
        effects.runAll();
        return true;
    }

    /** A call has decided by itself to wait no longer. */
    void left(Waiter waiter) {
        event((now, effects) -> state.waiters.remove(waiter));
    }

    /** How a call's wait ends at its own time-out. */
    Outcome atTimeout(Waiter waiter) {
        lock.lock();
        try {
            long now = clock.now();
            Throwable failure = state.contact.failureAtTimeout(waiter, now);
            if (failure == null && !waiter.queueing) {
                failure = state.contact.unanswered();
            }
            return failure != null ? new Failed(failure) : Refused.TIMED_OUT;
        } finally {
            lock.unlock();
        }
    }

    /** Until when a call may wait on for the answer of the store, its own time being over; 0 if not at all. */
    long extendedTime(Waiter waiter) {
        lock.lock();
        try {
            return state.contact.extendedTime(waiter, clock.now());
        } finally {
            lock.unlock();
        }
    }

    private long begin(Effects effects) {
        long now = clock.now();
        state.begin(now, effects);
        return now;
    }

    /** A call gives its permit back, and waits for the store if the settings say so. Of no effect the second time. */
    void release(Grant grant) {
        CompletableFuture<Void> confirmation = null;
        Effects effects = null;
        lock.lock();
        try {
            if (!grant.end()) {
                return;
            }
            if (!shortcut.giveBack(grant)) {
                effects = new Effects(host);
                confirmation = settleReturn(grant, effects);
            }
        } finally {
            lock.unlock();
        }
        if (effects != null) {
            effects.runAll();
        }
        host.released(grant);
        if (confirmation != null) {
            host.awaitReturn(confirmation);
        }
    }

    /** Ends when the store has confirmed it; {@code null} if there is nothing to wait for. */
    private @Nullable CompletableFuture<Void> settleReturn(Grant grant, Effects effects) {
        long now = begin(effects);
        if (!state.release(grant, now, effects)) {
            return null;
        }
        settle(now, effects);
        boolean awaited = state.policy().release() == Release.SYNC && state.plan.owes() && !retired;
        return awaited ? confirmations.await(state.plan) : null;
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

    /** The member's session is gone, and with it all its records. */
    void sessionLost() {
        event((now, effects) -> state.sessionLost(effects));
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
        lock.lock();
        try {
            retire();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the permit is backed by an answer that may still be relied on. */
    boolean isValid(Grant grant) {
        return ask(line -> grant.counted && host.now() < line.validUntil());
    }

    /** Whether calls hold permits. */
    boolean isInUse() {
        return ask(line -> line.ledger.inUse() > 0);
    }

    private boolean ask(Predicate<LineState> question) {
        lock.lock();
        try {
            return question.test(state);
        } finally {
            lock.unlock();
        }
    }

    private void timerFired() {
        event((now, effects) -> {
            timer.fired();
            if (!retired && state.isUnused(now)) {
                retire();
                if (state.isClosing()) {
                    effects.run(host::progress);
                }
            }
        });
    }

    private void event(Event event) {
        Effects effects = new Effects(host);
        lock.lock();
        try {
            long now = begin(effects);
            event.happen(now, effects);
            settle(now, effects);
        } finally {
            lock.unlock();
        }
        effects.runAll();
    }

    private void settle(long now, Effects effects) {
        if (retired) {
            return;
        }
        state.settle(now, effects);
        confirmations.settle(state.plan, state.ledger.appliedSequence(), effects);
        boolean leaving = state.isClosing() && state.ledger.inUse() == 0;
        if (leaving && state.isUnused(now)) {
            retire();
        } else {
            timer.arm(state.nextTime(now), now);
        }
        if (leaving) {
            effects.run(host::progress);
        }
    }

    private void retire() {
        retired = true;
        timer.stop();
        host.retired(this);
    }

    /** What happens between begin and settle. */
    private interface Event {
        void happen(long now, Effects effects);
    }
}
