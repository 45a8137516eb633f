package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.key.OutageCall.Adoption;
import io.github.distributedpermit.spi.CallView;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The calls of this process that wait for one key, in the order of their arrival less their head starts: a doubly linked list, so that a
 * waiter can be removed at any position in constant time. A waiter is either <em>queueing</em> (it waits for a permit)
 * or a <em>try</em> (a call with {@code block = false}, or any call during a shutdown), which stays only until one claim
 * has been answered. Guarded by
 * the lock of the {@link KeyQueue}. Links and counts change together, without a method call in between, so that not
 * even a stack overflow can leave them inconsistent. Those of {@link FairGroups} are made anew after an error.
 */
final class WaiterQueue {

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;
    private long weight;
    private int queueing;
    private int mayRunWithoutStore;
    private int runAtOnce;
    private int adoptions;
    private int heaviest;

    /** How many have no claim yet. Without head starts these are the last ones. */
    private int unclaimed;

    private int headStarts;

    /** Whether each call is served under its own limit. */
    private boolean perCall;

    /** Whether calls with different limits have waited since the queue was empty. */
    private boolean limitsDiffer;

    final FairGroups groups = new FairGroups();

    final Pace pace = new Pace();

    /** Up to which claim answers have been applied. */
    private long answered = Waiter.UNCLAIMED;

    /** How many calls have to wait, as the answers to claims have shown that were sent after they arrived. */
    private int provenWaiting;

    /** The first waiter behind those calls; {@code null} if there is none. */
    private @Nullable Waiter firstUnproven;

    /** Whether each call is served under its own limit from now on. With an operator's limit all have the same. */
    void limitsOfCallsApply(boolean apply) {
        perCall = apply;
    }

    /**
     * Puts the waiter at the end, or as far before it as its head start takes it. A call that runs already is not overtaken.
     *
     * @return how many waiters it has overtaken
     */
    int add(Waiter waiter) {
        boolean lenient = !waiter.needsStore();
        boolean atOnce = waiter.runsAtOnce();
        FairGroup<Waiter> group = groups.of(waiter, firstCall());
        waiter.group = group;
        int overtaken = 0;
        Waiter before = last;
        Waiter after = null;
        boolean beforeUnproven = firstUnproven == null;
        Waiter afterInGroup = null;
        if (waiter.hasHeadStart()) {
            while (before != null && before.queuedAt > waiter.queuedAt && !(before instanceof Adoption)) {
                beforeUnproven |= before == firstUnproven;
                if (before.group == group) {
                    afterInGroup = before;
                }
                after = before;
                before = before.previous;
                overtaken++;
            }
            headStarts++;
        }
        if (last != null && last.limit != waiter.limit) {
            limitsDiffer = true;
        }
        inheritClaim(waiter);
        waiter.previous = before;
        waiter.next = after;
        if (before == null) {
            first = waiter;
        } else {
            before.next = waiter;
        }
        if (after == null) {
            last = waiter;
        } else {
            after.previous = waiter;
        }
        if (beforeUnproven) {
            firstUnproven = waiter;
        }
        waiter.inQueue = true;
        if (waiter.firstClaim == Waiter.UNCLAIMED) {
            unclaimed++;
        }
        size++;
        weight += waiter.weight;
        if (waiter.weight > heaviest) {
            heaviest = waiter.weight;
        }
        if (!waiter.isTry) {
            queueing++;
        }
        if (lenient) {
            mayRunWithoutStore++;
        }
        if (atOnce) {
            runAtOnce++;
        }
        if (group != null) {
            groups.add(waiter, group, afterInGroup);
        }
        return overtaken;
    }

    /** Puts a permit that the store has not recorded at the head, since its call runs already. */
    void addFirst(Adoption adoption) {
        if (first != null && first.limit != adoption.limit) {
            limitsDiffer = true;
        }
        adoption.next = first;
        if (first == null) {
            last = adoption;
        } else {
            first.previous = adoption;
        }
        first = adoption;
        adoption.inQueue = true;
        size++;
        weight += adoption.weight;
        if (adoption.weight > heaviest) {
            heaviest = adoption.weight;
        }
        queueing++;
        adoptions++;
    }

    /** Removes the waiter, wherever it is. Has no effect if it has left already. */
    void remove(Waiter waiter) {
        if (!waiter.inQueue) {
            return;
        }
        boolean lenient = !waiter.needsStore();
        boolean atOnce = waiter.runsAtOnce();
        boolean withHeadStart = waiter.hasHeadStart();
        Waiter before = waiter.previous;
        Waiter after = waiter.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        if (waiter == firstUnproven) {
            firstUnproven = after;
        }
        if (waiter.hasToWait) {
            provenWaiting--;
        }
        if (waiter.firstClaim == Waiter.UNCLAIMED) {
            unclaimed--;
        }
        if (withHeadStart) {
            headStarts--;
        }
        waiter.previous = null;
        waiter.next = null;
        waiter.inQueue = false;
        size--;
        weight -= waiter.weight;
        if (!waiter.isTry) {
            queueing--;
        }
        if (lenient) {
            mayRunWithoutStore--;
        }
        if (atOnce) {
            runAtOnce--;
        }
        if (waiter instanceof Adoption) {
            adoptions--;
        }
        if (size == 0) {
            heaviest = 0;
            limitsDiffer = false;
            pace.pause();
        }
        FairGroup<Waiter> group = waiter.group;
        if (group != null) {
            groups.remove(waiter, group);
        }
    }

    @Nullable
    Waiter first() {
        return first;
    }

    /** Whether calls with different limits may wait. */
    boolean isMixed() {
        return perCall && limitsDiffer;
    }

    /** The highest limit of the calls; if that is this one, the lowest. */
    int limitOtherThan(int limit) {
        int lowest = Integer.MAX_VALUE;
        int highest = 0;
        for (Waiter w = first; w != null; w = w.next) {
            lowest = Math.min(lowest, w.limit);
            highest = Math.max(highest, w.limit);
        }
        return highest == limit ? lowest : highest;
    }

    /** The call that has waited for the longest of those that the next claim may serve, whatever their groups; {@code null} if none waits. */
    @Nullable
    Waiter oldest() {
        Waiter head = isMixed() ? head() : null;
        Waiter w = first;
        while (head != null && w != null && w.limit < head.limit) {
            w = w.next;
        }
        return w;
    }

    /**
     * The call to serve next of those for which the key has at least this limit: of the group that uses the fewest permits here, the first
     * one; {@code null} if there is none.
     */
    @Nullable
    Waiter next(int limit) {
        return next(limit, false);
    }

    /** The same of those that may run without the store. */
    @Nullable
    Waiter nextLenient(int limit) {
        return next(limit, true);
    }

    private @Nullable Waiter next(int limit, boolean lenientOnly) {
        int least = perCall ? limit : Integer.MIN_VALUE;
        for (Waiter w = first;
                w != null && w.group == null;
                w = w.next) { // there are no groups, or the call runs already
            if (w.mayBeNext(least, lenientOnly)) {
                return w;
            }
        }
        return groups.next(least, lenientOnly);
    }

    /**
     * The call that the next claim asks for. One that got no permit under its own limit is passed by the next one with a higher limit,
     * since that may be all that keeps the first one out.
     */
    @Nullable
    Waiter head() {
        Waiter head = next(0);
        Waiter higher = head;
        while (isMixed() && higher != null && higher.wasTriedBy(answered)) {
            head = higher;
            higher = next(head.limit + 1);
        }
        return higher == null ? head : higher;
    }

    /**
     * How many permits other calls will surely be given before one that arrives now. Counts the calls of its group that are before it,
     * except those that it passes because their limit is lower, and those that will have timed out by then. 0 while a permit may be
     * free. 0 also while only one call waits: so two calls can always wait, and their permits show a pace that has changed.
     *
     * @param noneFree whether none is free, although no answer has shown that calls have to wait
     */
    long ahead(Waiter arriving, boolean noneFree, long now) {
        long permits = 0;
        int calls = 0;
        boolean waits = noneFree;
        for (Waiter w = firstCall(); w != null && w.queuedAt <= arriving.queuedAt; w = w.next) {
            boolean passed = w.isTry || (perCall && w.limit < arriving.limit);
            if (!passed && Objects.equals(w.fairBy, arriving.fairBy) && w.deadline - now >= pace.usual(permits)) {
                permits += w.weight;
                calls++;
                waits |= w.hasToWait;
            }
        }
        return waits && calls > 1 ? permits : 0;
    }

    /** The call has got its permits: it was the turn of its group. */
    void served(Waiter waiter, long now) {
        pace.served(waiter.weight, now);
        groups.served(waiter);
    }

    /**
     * A claim that asks for a call which waits already, is as easy to serve and has no lower limit, asks for this one too. Otherwise new
     * calls with a low limit that go to the front would each be tried first, and those with a higher one never.
     */
    private void inheritClaim(Waiter waiter) {
        if (!isMixed() || waiter.isTry) {
            return;
        }
        for (Waiter w = first; w != null; w = w.next) {
            if (!w.isTry && w.ownClaim != Waiter.UNCLAIMED && w.limit >= waiter.limit && w.weight <= waiter.weight) {
                waiter.ownClaim = w.ownClaim;
                return;
            }
        }
    }

    /**
     * Whether the call, which does not wait, has had its answer: to a claim with its limit, or since the head has a higher one
     * and waits.
     */
    boolean isAnswered(Waiter waiter, @Nullable Waiter head) {
        if (!isMixed() || head == null || !waiter.wasClaimedBy(answered)) {
            return waiter.wasClaimedBy(answered);
        }
        return waiter.wasTriedBy(answered) || (head.limit >= waiter.limit && head.wasTriedBy(answered));
    }

    /** Lets the calls that wait be tried again under their own limits, the first one first. */
    void tryAgain() {
        if (!isMixed()) {
            return;
        }
        for (Waiter w = first; w != null; w = w.next) {
            if (!w.isTry) {
                w.ownClaim = Waiter.UNCLAIMED;
            }
        }
    }

    /** The call that waits for the longest, without those that run already; {@code null} if none waits. */
    @Nullable
    Waiter firstCall() {
        Waiter w = first;
        while (w instanceof Adoption) {
            w = w.next;
        }
        return w;
    }

    /** Whether the first call need not be the one that arrived first. */
    boolean hasHeadStarts() {
        return headStarts > 0;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Adds the calls that wait for a permit, the oldest first, until the list has so many. */
    void describe(long now, int most, List<CallView> views) {
        for (Waiter w = firstCall(); w != null && views.size() < most; w = w.next) {
            views.add(w.view(CallView.State.WAITING, w.arrival, now));
        }
    }

    /** How many calls wait. */
    int size() {
        return size - adoptions;
    }

    /** Whether there are calls that may run without the store. */
    boolean anyMayRunWithoutStore() {
        return mayRunWithoutStore > 0;
    }

    /** Whether there are calls that run without the store at once. */
    boolean anyRunsAtOnce() {
        return runAtOnce > 0;
    }

    /** Whether all calls may run without the store. */
    boolean allMayRunWithoutStore() {
        return mayRunWithoutStore == size;
    }

    /** How many permits all waiters want together. */
    long weight() {
        return weight;
    }

    /** How many permits the waiters want together that may be served under this limit. */
    long weight(int limit) {
        if (!isMixed()) {
            return weight;
        }
        long sum = 0;
        for (Waiter w = first; w != null; w = w.next) {
            sum += w.limit >= limit ? w.weight : 0;
        }
        return sum;
    }

    /**
     * How many permits to ask for while other members wait. If the oldest call has a head start, that is no reason to serve calls behind
     * it that have none: those of other members may have waited for longer.
     *
     * @param most so many or more make no difference
     */
    long weightInTurn(Waiter head, long most) {
        Waiter w = oldest();
        if (w == null || !w.hasHeadStart() || hasTries()) { // a call that does not wait is asked for once
            return weight(head.limit);
        }
        long sum = 0;
        while (w != null && w.hasHeadStart() && sum < most) {
            sum += !isMixed() || w.limit >= head.limit ? w.weight : 0;
            w = w.next;
        }
        return Math.max(sum, head.weight);
    }

    /** The claims up to this one were answered: calls that they asked for, and that are still here, have to wait. */
    void noteAnswered(long sequence) {
        answered = sequence;
        for (Waiter w = firstUnproven; w != null && w.wasClaimedBy(sequence); w = firstUnproven) {
            if (!w.hasToWait && !(w instanceof Adoption)) {
                w.hasToWait = true;
                provenWaiting++;
            }
            firstUnproven = w.next;
        }
    }

    /** How many calls are known to have to wait. The others may be on their way to permits that are free. */
    int provenWaiting() {
        return provenWaiting;
    }

    /** How many calls wait for a permit, without those that run already. */
    int queueing() {
        return queueing - adoptions;
    }

    /** Whether there are calls that wait for a permit, or run already and ask the store for theirs. */
    boolean hasQueueing() {
        return queueing > 0;
    }

    /** Whether there are calls that do not wait, and are here only until one claim has been answered. */
    boolean hasTries() {
        return queueing < size;
    }

    /** Whether a call that does not wait has no claim yet. It is rejected only by the answer to a claim that was sent after its arrival. */
    boolean hasUnclaimedTry() {
        if (hasTries()) {
            int left = unclaimed;
            for (Waiter w = last; w != null && left > 0; w = w.previous) {
                if (w.firstClaim == Waiter.UNCLAIMED) {
                    left--;
                    if (w.isTry) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** An upper bound of what a single waiter wants: removals do not lower it, an empty queue resets it. */
    int heaviest() {
        return heaviest;
    }

    /**
     * Notes a claim for the waiters that have none, which arrived after the last claim.
     *
     * @param limit that the claim states
     */
    void noteClaim(long sequence, int limit) {
        for (Waiter w = last; w != null && (unclaimed > 0 || isMixed()); w = w.previous) {
            if (w.firstClaim == Waiter.UNCLAIMED) {
                w.firstClaim = sequence;
                unclaimed--;
            }
            if (w.ownClaim == Waiter.UNCLAIMED && w.limit == limit) {
                w.ownClaim = sequence;
            }
        }
    }

    /** Clears the noted claims, so that the answer to a claim in flight rejects no waiter. */
    void forgetClaims() {
        for (Waiter w = last; w != null; w = w.previous) {
            w.ownClaim = Waiter.UNCLAIMED;
            if (w.firstClaim != Waiter.UNCLAIMED) {
                w.firstClaim = Waiter.UNCLAIMED;
                unclaimed++;
            }
        }
    }

    /** Turns the calls that wait into tries. */
    void stopQueueing() {
        for (Waiter w = firstCall(); w != null; w = w.next) {
            if (!w.isTry) {
                w.isTry = true;
                queueing--;
            }
        }
    }

    /** Ends the wait of all that match, unless they are decided already. */
    void end(Predicate<Waiter> which, Outcome outcome, Effects effects) {
        Waiter w = first;
        while (w != null) {
            Waiter following = w.next;
            if (which.test(w)) {
                // decided first: a decided waiter that is still queued is woken by the repair, if an error occurs here
                w.end(outcome, effects);
                remove(w);
            }
            w = following;
        }
    }

    /**
     * After an error: removes the waiters that are decided, and wakes them once more in case the error prevented it.
     */
    void mend(Ledger ledger, OutageCalls outageCalls, Effects effects) {
        groups.mend(firstCall());
        Waiter w = first;
        while (w != null) {
            Waiter following = w.next;
            Outcome outcome = w.outcome();
            if (outcome != null) {
                if (outcome instanceof Grant grant) {
                    if (grant.owner() instanceof OutageCall call && !(w instanceof Adoption)) {
                        outageCalls.addAfterError(call);
                    } else {
                        ledger.holdAfterError(grant);
                    }
                }
                effects.ended(w, outcome);
                remove(w);
            }
            w = following;
        }
    }
}
