package io.github.distributedpermit.core.key;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.key.Outcome.Failed;
import io.github.distributedpermit.core.key.Outcome.Refused;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one key that run without the store while it is {@linkplain StoreWatch#isBypassed bypassed}, see
 * {@link OnStoreFailure}. After that, each of them that still runs asks the store for its
 * permit, from the head of the queue. Guarded by the lock of the {@link KeyQueue}.
 */
final class OutageCalls {

    private final String key;
    private final Grant.Owner queue;
    private final KeyQueueHost host;
    private final WaiterQueue waiters;
    private final Ledger ledger;
    private Policy policy;

    private @Nullable OutageCall newest;
    private int inUse;

    /** Whether calls that allow it run without the store now. */
    private boolean on;

    OutageCalls(String key, Grant.Owner queue, Policy policy, KeyQueueHost host, WaiterQueue waiters, Ledger ledger) {
        this.key = key;
        this.queue = queue;
        this.policy = policy;
        this.host = host;
        this.waiters = waiters;
        this.ledger = ledger;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    boolean isOn() {
        return on;
    }

    /** How many permits calls have without the store. */
    int inUse() {
        return inUse;
    }

    /** Whether calls may run without the store from now on, because it has not answered for a store time-out. */
    boolean enter(long now, Effects effects) {
        if (on) {
            return true;
        }
        if (!host.watch().bypass(policy.storeTimeout(), now, effects)) {
            return false;
        }
        on = true;
        for (OutageCall call = newest; call != null; call = call.previous) {
            if (call.adoption != null) { // the last outage has ended a moment ago
                waiters.remove(call.adoption);
                call.adoption = null;
            }
        }
        return true;
    }

    /**
     * The outage has ended: the calls that still run ask the store for their permits, the oldest first, before those that
     * wait. Those that do so already, since an error has ended this early, are left as they are.
     */
    void askForPermits() {
        for (OutageCall call = newest; call != null; call = call.previous) {
            if (call.adoption == null || !call.adoption.inQueue) {
                OutageCall.Adoption adoption = new OutageCall.Adoption(call);
                waiters.addFirst(adoption);
                call.adoption = adoption;
            }
        }
    }

    /** From now on no call runs without the store. */
    void leave() {
        on = false;
    }

    /** Whether the count of calls that have lost their permits is needed later, for the share of this instance. */
    boolean countsLost() {
        return on || policy.onStoreFailure() == OnStoreFailure.LOCAL;
    }

    /** Whether the outage has ended that calls here run without the store for. */
    boolean hasEnded() {
        return on && !host.watch().isBypassed();
    }

    /** Whether the call gets a permit without the store, now or when another call of this process ends. */
    boolean serves(Waiter waiter) {
        return on
                && switch (waiter.onStoreFailure) {
                    case ALLOW -> limit(waiter) > 0;
                    case LOCAL -> waiter.weight <= share(waiter);
                    case FAIL, DEFAULT -> false;
                };
    }

    /** Why the call does not get one. */
    private PermitStoreException refusal(Waiter waiter) {
        String why;
        if (limit(waiter) == 0) {
            why = "an operator had paused the key";
        } else if (share(waiter) == 0) {
            why = host.watch().outage().answeredAt() < 0
                    ? "this instance has never reached the store and does not know its share of the limit"
                    : "this instance has no share of the limit of " + limit(waiter);
        } else {
            why = "the call asks for %d permits, but the share of this instance is %d of %d"
                    .formatted(waiter.weight, share(waiter), limit(waiter));
        }
        return PermitStoreException.passing("the store does not answer, and without it " + why, null);
    }

    /** Serves the calls that need no store, ends those that it can't serve, and rejects those that do not wait. */
    void serve(long now, Effects effects) {
        if (!on || !waiters.anyMayRunWithoutStore()) {
            return;
        }
        Waiter waiter = waiters.first();
        if (waiter != null && (waiters.isMixed() || limit(waiter) == 0 || waiters.heaviest() > share(waiter))) {
            failUnserved(effects);
        }
        int least = 0;
        for (Waiter next = waiters.nextLenient(0); next != null; next = waiters.nextLenient(least)) {
            if (!grantIfFree(next, now, effects)) {
                if (!waiters.isMixed()) {
                    break;
                }
                least = next.limit + 1; // one with a higher limit may have a larger share
            }
        }
        serveAtOnce(now, effects);
        if (waiters.hasTries()) {
            waiters.end(w -> !w.mayWait && !w.needsStore(), new Refused(Reason.LIMIT_REACHED), effects);
            waiters.end(w -> w.isTry && !w.needsStore(), new Refused(Reason.SHUTTING_DOWN), effects);
        }
    }

    /** Calls that run at once, however many others run, are not blocked by those that wait for a share. */
    private void serveAtOnce(long now, Effects effects) {
        Waiter waiter = waiters.anyRunsAtOnce() ? waiters.first() : null;
        while (waiter != null) {
            Waiter following = waiter.next;
            if (waiter.runsAtOnce()) {
                grantIfFree(waiter, now, effects);
            }
            waiter = following;
        }
    }

    private void failUnserved(Effects effects) {
        Waiter waiter = waiters.first();
        while (waiter != null) {
            Waiter following = waiter.next;
            if (!waiter.needsStore() && !serves(waiter)) {
                waiter.end(new Failed(refusal(waiter)), effects);
                waiters.remove(waiter);
            }
            waiter = following;
        }
    }

    private boolean grantIfFree(Waiter waiter, long now, Effects effects) {
        boolean local = waiter.onStoreFailure == OnStoreFailure.LOCAL;
        if (local && waiter.weight > share(waiter) - running()) {
            return false;
        }
        OutageCall call = new OutageCall(queue, waiter, host.unlimitedGrants().nextCount(), now);
        // the order is: decide, count, remove. After an error in between, mend() completes what is missing
        if (waiter.grant(call.grant, false)) {
            add(call);
            waiters.groups.served(waiter);
            effects.ended(waiter, call.grant);
            int limit = limit(waiter);
            int share = share(waiter);
            effects.execute(() -> host.ranWithoutStore(waiter.permit, waiter.onStoreFailure, share, limit));
        }
        waiters.remove(waiter);
        return true;
    }

    /** The permits of all calls here that have not ended, also of those that have lost theirs, and of those that run at once. */
    private int running() {
        return ledger.inUse() + ledger.holders.lostInUse() + inUse;
    }

    private int limit(Waiter waiter) {
        return host.limitInForce(key, policy.isPerCall() ? waiter.limit : policy.limit());
    }

    private int share(Waiter waiter) {
        return host.localShare(key, limit(waiter));
    }

    private void add(OutageCall call) {
        call.previous = newest;
        if (newest != null) {
            newest.next = call;
        }
        newest = call;
        call.counted = true;
        inUse += call.grant.weight;
        if (call.grant.group != null) {
            call.grant.group.inUse += call.grant.weight;
        }
        call.grant.gauge();
        call.grant.permit.counts.withoutStore.addAndGet(call.grant.weight);
        call.gauged = true;
    }

    /** There are groups from now on. */
    void countWithoutGroup() {
        forEach(waiters.groups::countWithoutGroup);
    }

    /** After an error: counts a call that has its permit already. */
    void addAfterError(OutageCall call) {
        if (!call.counted && !call.grant.counted && !call.grant.ended) {
            add(call);
        }
    }

    private void remove(OutageCall call) {
        OutageCall before = call.previous;
        OutageCall after = call.next;
        if (before != null) {
            before.next = after;
        }
        if (after == null) {
            newest = before;
        } else {
            after.previous = before;
        }
        call.previous = null;
        call.next = null;
        call.counted = false;
        inUse -= call.grant.weight;
        FairGroup<?> group = call.grant.group;
        if (group != null) {
            group.inUse -= call.grant.weight;
            group.dropIfUnused();
        }
        if (call.gauged) {
            call.grant.permit.counts.withoutStore.addAndGet(-call.grant.weight);
            call.gauged = false;
        }
    }

    /** The call has ended. {@code false} if the store has recorded its permit, or if it was removed before. */
    boolean end(OutageCall call) {
        if (!call.counted) {
            return false;
        }
        remove(call);
        call.grant.ungauge();
        if (call.adoption != null) {
            waiters.remove(call.adoption);
            call.adoption = null;
        }
        return true;
    }

    /** The store has recorded the permit of the call, which is like any other from now on. */
    void recorded(OutageCall call) {
        if (call.counted) {
            remove(call);
        }
        call.adoption = null;
    }

    /** After an error: drops the calls that have ended, or that the store has recorded. */
    void mend() {
        OutageCall call = newest;
        while (call != null) {
            OutageCall before = call.previous;
            if (call.grant.ended) {
                end(call);
            } else if (call.grant.counted) {
                recorded(call);
            }
            call = before;
        }
    }

    /** The permits of all calls here, the newest first. */
    void forEach(Consumer<Grant> action) {
        for (OutageCall call = newest; call != null; call = call.previous) {
            action.accept(call.grant);
        }
    }

    private @Nullable OutageCall oldestCall() {
        OutageCall call = newest;
        while (call != null && call.previous != null) {
            call = call.previous;
        }
        return call;
    }

    /** Adds the calls, the oldest first, until the list has so many. */
    void describe(long now, int most, List<CallView> views) {
        for (OutageCall call = oldestCall(); call != null && views.size() < most; call = call.next) {
            views.add(call.grant.view(CallView.State.HOLDING, call.grant.grantedAt, now));
        }
    }
}
