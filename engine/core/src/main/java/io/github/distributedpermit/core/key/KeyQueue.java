package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.Holding;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one key in this process. It receives all events of that key: calls arrive and leave, permits are
 * returned, answers and notifications of the store arrive, the timer fires. Each event (see {@link KeyQueueEvents})
 * takes the lock, changes the {@link KeyQueueState}, settles it (serves waiters, returns idle permits, sends a claim that is
 * due), and runs the collected {@link Effects} after it has released the lock. {@link #take} and {@link #release} try the
 * {@link IdleFastPath} first, which needs no settling.
 *
 * <p>Thread-safe. No method waits for the store, except {@link #release} with {@code release: sync}. The
 * {@code KeyRegistry} creates a queue for the first call or notification of a key, and drops it when it is {@linkplain #retire
 * retired}: neither a call nor the store needs it any more.
 */
public final class KeyQueue extends KeyQueueEvents implements KeyQueueState.Callbacks {

    /** The value of {@link #limit} while no call has used the queue. */
    private static final int NONE = -1;

    private final String key;
    private final Owner host;
    private final KeyQueueState state;
    private final KeyQueueTimer timer;
    private final ProcessClock clock;
    private final IdleFastPath fastPath;
    private final Confirmations confirmations = new Confirmations();

    /** The limit that the queue has adopted. A call with another one cannot take the fast path. Guarded by the lock. */
    private int limit;

    /**
     * The name (of a declared permit) whose settings apply to the key: that of the first call. Calls of other names may use the
     * key too, if these have the same limit; how they are refused, and what they do without the store, is set by their own name. {@code null} while no call has used the queue. Guarded by the lock.
     */
    private @Nullable PermitName leader;

    /** The settings of that name that the queue has adopted. Guarded by the lock. */
    private @Nullable Policy adopted;

    /** How many {@linkplain KeyQueueHost#changes changes} have been applied here. Guarded by the lock. */
    private long seenChanges;

    /** Which calls were admitted when that was last applied here. Guarded by the lock. */
    private Admission seenAdmission;

    /** Whether the registry has dropped this queue, so that calls have to look up another one. Guarded by the lock. */
    private boolean retired;

    /**
     * A queue without calls.
     *
     * @param policy the settings that apply to the key
     * @param unused whether it is created for a notification and not for a call, so that it only returns permits
     */
    public KeyQueue(String key, Policy policy, boolean unused, Owner host) {
        this.key = key;
        this.limit = unused ? NONE : policy.limit();
        this.host = host;
        this.seenChanges = host.changes();
        this.seenAdmission = host.admission();
        this.state = new KeyQueueState(key, this, policy, host);
        this.timer = new KeyQueueTimer(this::timerFired);
        this.clock = new ProcessClock(host, timer, state.failures);
        this.fastPath = new IdleFastPath(this, state, timer);
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public KeyQueueHost host() {
        return host;
    }

    /** Whether calls of this name may use the queue: other names that use it have the same limit, or none. */
    public synchronized boolean fits(PermitName permit) {
        PermitName first = leader;
        if (retired || first == null || first == permit) {
            return true;
        }
        int stated = permit.policy().limit();
        int other = first.policy().limit();
        return other == stated || other == PermitDefinition.UNLIMITED || stated == PermitDefinition.UNLIMITED;
    }

    /** Applies the present settings of the name that leads. */
    private void follow(PermitName first) {
        Policy stated = first.policy();
        if (stated != adopted && !stated.isUnlimited()) {
            Policy applied = stated.withLease(
                    state.policy().lease()); // in a store with sessions it is the length of the session
            if (limit == NONE) {
                state.adopt(applied);
            } else {
                state.change(applied);
            }
            limit = stated.limit();
        }
        adopted = stated;
    }

    @Override
    void applyChanges(long now, Effects effects) {
        // what was seen is assigned last: if an error ends the line above early, the next event repeats it
        Admission admission = host.admission();
        if (admission != seenAdmission) {
            state.admitFewer(effects);
            seenAdmission = admission;
        }
        long changes = host.changes();
        if (changes != seenChanges && !retired) {
            followSettings(now, effects);
            state.pausesChanged(now, effects);
            seenChanges = changes;
        }
    }

    private void followSettings(long now, Effects effects) {
        PermitName first = leader;
        if (first == null) {
            return;
        }
        // Also if the leader's settings have not changed: calls of other names may wait that have no limit any more.
        state.serveAllUnlimited(now, effects);
        Waiter waiting = state.waiters.first();
        if (waiting != null && first.policy().isUnlimited()) {
            first = waiting.permit;
            leader = first;
        }
        follow(first);
    }

    /** Takes a permit that is idle in this process; {@code null} if the call has to {@link #enter}. */
    @Nullable
    public Grant take(PermitName permit, int weight, long now) {
        // Saves a call that has to wait from taking the lock twice. The number is read without the lock and may be
        // outdated; if it is too low, the call takes the ordinary path.
        if (weight > state.ledger.idle() || host.pause(permit) != PauseState.NONE) {
            return null;
        }
        try {
            synchronized (this) {
                if (broken || retired || limit != permit.policy().limit()) {
                    return null;
                }
                broken = true;
                Grant idle = fastPath.take(permit, weight, now);
                broken = false;
                return idle;
            }
        } catch (RuntimeException | Error e) {
            trouble(e);
            throw e;
        }
    }

    /**
     * A call arrives. {@code false} if it has to look up the queue again, because this one was retired or does not
     * {@linkplain #fits fit}, or since a change of settings has left the call without a limit.
     */
    public boolean enter(Waiter waiter) {
        boolean[] entered = new boolean[1];
        Error cut = event((now, effects) -> {
            if (retired || !fits(waiter.permit)) {
                return;
            }
            if (waiter.permit.policy().isUnlimited()) {
                entered[0] = true;
                state.serveUnlimited(waiter, now, effects); // it was limited when the call arrived
                return;
            }
            PermitName first = leader;
            if (first == null || first.policy().isUnlimited()) {
                first = waiter.permit;
                leader = first;
            }
            follow(first);
            if (waiter.limit > PermitDefinition.MAX_LIMIT) {
                // The settings have changed since the waiter was made. Later they may leave limits to the calls again.
                waiter.limit = state.policy().limit();
            }
            entered[0] = waiter.limit <= PermitDefinition.MAX_LIMIT;
            if (entered[0]) {
                state.enter(waiter, now, effects);
            }
        });
        if (cut != null) {
            // No other thread will check the queue soon, so the caller must not wait for what this event could not do.
            throw cut;
        }
        return entered[0];
    }

    /** Removes a waiter whose caller has decided the outcome: a time-out, an interrupt or a cancellation. */
    public void left(Waiter waiter) {
        event((now, effects) -> state.left(waiter));
    }

    /** The outcome of a call whose time-out has passed: a rejection, or the failure of the store. */
    public synchronized Outcome atTimeout(Waiter waiter) {
        return state.failures.atTimeout(waiter, clock.now());
    }

    /** Until when a call may wait for an answer of the store although its own time-out has passed; 0 if it may not wait. */
    public synchronized long extendedTime(Waiter waiter, long deadline) {
        return state.failures.extendedTime(waiter, clock.now(deadline));
    }

    /**
     * A call returns its permit, and waits for the store's confirmation if the settings say so. A second call has no
     * effect. Once {@code grant.ended} is set, the permit is returned even if an error follows, such as a stack overflow,
     * because the repair of the queue returns all grants with that flag. So the caller does not receive that error.
     *
     * @return whether this call ended the grant, and the permit was not known to be lost
     */
    @Override
    public boolean release(Grant grant) {
        boolean counted = false;
        CompletableFuture<Void> confirmation = null;
        Effects effects = null;
        Error cut = null;
        try {
            synchronized (this) {
                if (grant.ended) {
                    return false;
                }
                grant.ended = true;
                counted = grant.counted;
                boolean whole = !broken;
                broken = true;
                grant.showEnd();
                if (whole && fastPath.giveBack(grant)) {
                    broken = false;
                } else {
                    counted |= state.runsWithoutStore(grant);
                    effects = new Effects(this, host);
                    confirmation = settleReturn(grant, !whole, effects);
                }
            }
        } catch (RuntimeException | Error e) {
            markBroken();
            trouble(e);
        } finally {
            if (effects != null) {
                try {
                    effects.runAll();
                } catch (Error e) {
                    cut = e;
                }
                if (!effects.done) {
                    synchronized (this) {
                        if (!effects.listed) {
                            effects.next = postponed;
                            postponed = effects;
                            effects.listed = true;
                        }
                        effects.postponed = true;
                        broken = true;
                    }
                }
            }
        }
        if (cut != null) {
            trouble(cut);
        }
        host.released(grant);
        if (confirmation != null) {
            host.awaitReturn(confirmation);
        }
        return counted;
    }

    /** Returns the permit; a future that completes when the store has confirmed it, {@code null} if none is awaited. */
    private @Nullable CompletableFuture<Void> settleReturn(Grant grant, boolean cutShort, Effects effects) {
        long now = begin(cutShort, effects);
        boolean returned = state.release(grant, now, effects);
        if (returned || cutShort) {
            settle(now, effects);
        }
        boolean awaited = returned && state.policy().release() == Release.SYNC && state.ledger.owes() && !retired;
        CompletableFuture<Void> confirmation = awaited ? confirmations.await(state.plan, state.ledger) : null;
        broken = false;
        return confirmation;
    }

    @Override
    public void answered(long sequence, Holding holding) {
        event((now, effects) -> {
            state.failures.landed(sequence, now, effects);
            takeIn(holding, now, effects);
        });
    }

    /** The store has sent a notification of a grant. */
    public void pushed(Holding holding) {
        event((now, effects) -> takeIn(holding, now, effects));
    }

    private void takeIn(Holding holding, long now, Effects effects) {
        if (!retired) {
            state.takeIn(holding, now, effects);
        } else if (holding.permits() > 0) {
            // This queue gets no calls any more. The present queue of the key, or a new one, uses or returns the
            // permits.
            effects.execute(() -> host.granted(key, holding));
        }
    }

    @Override
    public void failed(long sequence, Throwable cause) {
        event((now, effects) -> state.failures.failed(sequence, cause, now, effects));
    }

    /** The store has sent a notification that the key has changed, without a grant. */
    public void changed() {
        event((now, effects) -> state.changed());
    }

    /** The store can be reached again, so the pause after failed claims ends. */
    public void reachable() {
        event((now, effects) -> state.reachable());
    }

    /** The store has lost state, as the claim of some key has shown. */
    public void reclaim() {
        event((now, effects) -> state.reclaim());
    }

    /** Permits that are idle here are to be returned to the store. */
    public void recall() {
        event((now, effects) -> state.recall());
    }

    /** Runs an empty event: it ends what has expired, such as the session, applies changes, and repairs the state after an error. */
    public void check() {
        event((now, effects) -> {});
    }

    /** As {@link #check}, after an error that may have left {@link #repairPending} set although no task was scheduled. */
    public void checkNeglected() {
        repairPending.set(false);
        check();
    }

    /**
     * Stops renewals and repetitions, because the member leaves the store. No call waits any more. Those that hold permits lose
     * them when their lease ends.
     */
    public void abandon() {
        synchronized (this) {
            retired = true; // first, so that no error in the event lets them go on
        }
        event((now, effects) -> {
            state.plan.forgotten(); // a claim without an answer says nothing about the store any more
            retire(effects);
        });
    }

    @Override
    public synchronized boolean isValid(Grant grant) {
        return grant.counted && host.now() < state.validUntil();
    }

    /** Adds the calls of this key, those that hold permits first, until the list has {@code most} entries. */
    public synchronized void describe(int most, List<CallView> views) {
        state.users.describe(host.now(), most, views);
    }

    /** Takes the permits of one call by order of an operator, see {@link Caller#call}; returns how many. */
    public int revoke(long call) {
        int[] taken = new int[1];
        event((now, effects) -> taken[0] = state.revoke(call, now, effects));
        return taken[0];
    }

    /** Whether calls hold permits. */
    public synchronized boolean isInUse() {
        return state.users.inUse() > 0;
    }

    /** How many permits calls hold. */
    public synchronized int inUse() {
        return state.users.inUse();
    }

    /** How many calls wait. */
    public synchronized int waiting() {
        return state.users.waiting();
    }

    /**
     * For the health check: since when a claim has had no answer, or when the timer is due, whichever is earlier. For a
     * key that the store refuses permanently, for example because another application uses it, only the timer counts:
     * the store does answer, and the calls of the key fail with its reason.
     */
    public synchronized long dueSince() {
        return state.failures.isRefused() ? timer.at() : Math.min(state.plan.unconfirmedSince(), timer.at());
    }

    /**
     * The names for the observer of the calls that hold permits or wait here. Without such calls the name that was last used;
     * none if no call has used the queue.
     */
    public synchronized Set<String> observedNames() {
        return state.users.namesOrLast().stream().map(PermitName::observedName).collect(Collectors.toSet());
    }

    /** The limit that calls of this instance state; empty if each states its own, or none has a limit. */
    public synchronized OptionalInt statedLimit() {
        Policy stated = leader == null ? null : leader.policy();
        return stated == null || stated.isPerCall() || stated.isUnlimited()
                ? OptionalInt.empty()
                : OptionalInt.of(stated.limit());
    }

    /** The names of the calls that hold permits or wait here. */
    public synchronized Set<String> names() {
        return state.users.names().stream().map(PermitName::name).collect(Collectors.toSet());
    }

    /**
     * For gauges: which calls of each name have waited, and held, for the longest, how many claims have no answer, and whether
     * the key is in grace.
     */
    public synchronized void survey(KeyQueueVisitor visitor) {
        state.users.survey(visitor);
        visitor.unanswered(state.plan.sent.inFlight());
        if (state.ledger.isInGrace()) {
            visitor.grace();
        }
    }

    @Override
    public synchronized void alarmFailed(Alarm which) {
        timer.failed(which);
    }

    private void timerFired() {
        try {
            event((now, effects) -> {
                timer.fired();
                if (!retired && state.holdsBack()) {
                    state.pausesChanged(now, effects); // again, in case an error has ended the look for a pause
                }
                if (!retired && state.isUnused(now)) {
                    retire(effects);
                }
            });
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                timer.fired(); // the next event then sets a new one
            }
            trouble(e); // sees to it that there is a next one, also if the event had not begun
            throw e;
        }
    }

    @Override
    long now() {
        return clock.now();
    }

    @Override
    KeyQueueState state() {
        return state;
    }

    @Override
    void settle(long now, Effects effects) {
        if (retired) {
            host.retired(this); // again, in case an error came between the flag and this
            if (state.ledger.inUse() > 0) {
                timer.arm(state.validUntil(), now, effects);
            }
            return;
        }
        state.settle(now, effects);
        confirmations.settle(state.plan, state.ledger, effects);
        boolean leaving = state.isClosing() && state.users.inUse() == 0;
        if (leaving && state.isUnused(now)) {
            retire(effects);
            return;
        }
        timer.arm(state.nextTime(now), now, effects);
        if (leaving) {
            effects.execute(host::progress);
        }
    }

    /**
     * Ends a queue that neither a call nor the store needs: the registry drops it, and its timer stops. After the member has left,
     * calls may hold permits; then the timer goes on until these are lost.
     */
    private void retire(Effects effects) {
        retired = true;
        if (state.ledger.inUse() == 0) {
            timer.stop(effects);
        }
        host.retired(this);
        if (state.isClosing()) {
            effects.execute(host::progress);
        }
    }

    @Override
    public boolean trouble(Throwable cause) {
        return host.trouble(this, cause);
    }

    @Override
    public void notice(Runnable task) {
        host.notice(task);
    }

    @Override
    public long time(long tickerNanos) {
        return host.time(tickerNanos);
    }

    /** What a queue needs of the process, and calls of the registry that keeps it. */
    public interface Owner extends KeyQueueHost {

        /** The queue is not needed any more. The caller holds its lock. */
        void retired(KeyQueue queue);

        /** The store has granted permits of a key whose queue is retired. */
        void granted(String key, Holding holding);

        /**
         * An error ended an event of the queue early: another thread has to check the queue soon.
         *
         * @return whether one will; {@code false} if not even that could be arranged, so that the next call has to do it
         */
        boolean trouble(KeyQueue queue, Throwable cause);
    }
}
