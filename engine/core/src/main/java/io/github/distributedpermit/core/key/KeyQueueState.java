package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.key.Outcome.Refused;
import io.github.distributedpermit.spi.Holding;

/**
 * The state machine of one key. Every event begins with {@link #begin}, which ends what has expired, then makes its
 * change, and ends with {@link #settle}, which serves waiters from idle permits, returns permits that are not needed,
 * and decides whether a claim is due.
 *
 * <p>It coordinates its parts: the waiting calls ({@link WaiterQueue}) and those of paused names ({@link HeldBackCalls}), the permits
 * granted and in use ({@link Ledger}), or used without the store ({@link OutageCalls}), the next claim ({@link ClaimPlan}), the
 * consequences of failed claims for calls ({@link ClaimFailures}), other {@link Rejections}, and the time for which idle permits stay
 * ({@link Lingering}). {@link KeyUsers} and {@link LimitNews} are for operators. Guarded by the lock of its {@link KeyQueue}; actions
 * that must run without the lock are collected in {@link Effects}.
 */
final class KeyQueueState {

    final WaiterQueue waiters = new WaiterQueue();
    final Ledger ledger;
    final ClaimPlan plan;
    final ClaimFailures failures;
    final Lingering lingering;
    final OutageCalls outageCalls;
    final KeyUsers users;
    private final HeldBackCalls heldBack;
    private final Rejections rejections;
    private final LimitNews limitNews;
    private final String key;
    private final Grant.Owner owner;
    private final KeyQueueHost host;
    private Policy policy;

    /** How many losses of the member's session have been handled here, see {@link KeyQueueHost#lostSessions()}. */
    private long seenLost;

    KeyQueueState(String key, Callbacks queue, Policy policy, KeyQueueHost host) {
        this.key = key;
        this.owner = queue;
        this.policy = policy;
        this.host = host;
        this.ledger = new Ledger(policy);
        this.waiters.limitsOfCallsApply(policy.isPerCall());
        this.plan = new ClaimPlan(key, queue, policy);
        this.outageCalls = new OutageCalls(key, queue, policy, host, waiters, ledger);
        this.failures = new ClaimFailures(policy, host, waiters, ledger, plan, outageCalls);
        this.heldBack = new HeldBackCalls(host);
        this.rejections = new Rejections(policy, waiters, heldBack, ledger, plan, outageCalls);
        this.users = new KeyUsers(key, ledger, outageCalls, waiters, heldBack);
        this.limitNews = new LimitNews(key, host, ledger);
        this.lingering = new Lingering(policy, host);
        this.seenLost = host.lostSessions();
    }

    Policy policy() {
        return policy;
    }

    /**
     * Applies changed settings. A changed limit is claimed at once. A lowered one also applies to the permits of this process
     * before the store answers.
     */
    void change(Policy settings) {
        if (settings.limit() != policy.limit()) {
            changed();
            waiters.pace.forget();
            if (ledger.granted() > settings.limit() && ledger.knownLimit() != null && !ledger.isOverridden()) {
                ledger.exceedLimit();
            }
        }
        adopt(settings);
    }

    /** Applies the settings of the first call, in a queue that was created for a notification. */
    void adopt(Policy settings) {
        policy = settings;
        ledger.adopt(settings);
        waiters.limitsOfCallsApply(policy.isPerCall() && !ledger.mayBeOverridden());
        plan.adopt(settings);
        failures.adopt(settings);
        lingering.adopt(settings);
        outageCalls.adopt(settings);
        rejections.adopt(settings);
    }

    /**
     * Begins every event: ends what has expired since the last one, which may be the session, the lease, the time-out
     * of a claim or the wait for the store. Only this method detects it, so an event must not use a permit before it
     * has run.
     */
    void begin(long now, Effects effects) {
        long lost = host.lostSessions();
        if (lost != seenLost) {
            sessionLost(effects);
            // assigned last: if an error ends the line above early, the next event repeats it
            seenLost = lost;
        }
        if (ledger.granted() > 0 && now >= validUntil()) {
            ledger.loseAll(LossCause.UNCONFIRMED, effects);
            plan.askAgain();
        }
        if (outageCalls.hasEnded()) {
            outageCalls.askForPermits();
            failures.storeIsBack(now);
            if (isClosing()) {
                endWaiting(effects);
            }
            if (!waiters.isEmpty()) {
                plan.askAgain();
            }
            outageCalls.leave(); // last, as above
        } else if (outageCalls.isOn()) {
            host.watch().askStore(effects); // else an error that ends the probes would end the use of the store
        }
        failures.lookAtTheClock(now, usesLeases(), effects);
    }

    /**
     * Repairs the state after an error. The grants in use and the waiting calls are certain, since every event records
     * them first. All other permits are returned, and a new claim sends the corrected numbers to the store.
     */
    void mend(Effects effects) {
        waiters.mend(ledger, outageCalls, effects);
        heldBack.mend(effects);
        ledger.mend();
        outageCalls.mend();
        plan.mend(effects);
    }

    /** A call arrives: it is served, rejected, or waits. */
    void enter(Waiter waiter, long now, Effects effects) {
        PauseState pause = host.pause(waiter.permit);
        if (pause == PauseState.NONE && !heldBack.isEmpty()) {
            pausesChanged(now, effects); // so that it does not overtake those that have waited for the end of the pause
        }
        enter(waiter, pause, now, effects);
    }

    private void enter(Waiter waiter, PauseState pause, long now, Effects effects) {
        users.arrived(waiter.permit);
        Admission admission = host.admission();
        Reason rejection = rejections.atArrival(waiter, pause, admission, now);
        if (rejection != null) {
            waiter.refuse(rejection, effects);
        } else if (pause != PauseState.NONE) {
            heldBack.add(waiter);
            if (pause == PauseState.UNKNOWN) {
                effects.execute(() -> host.findPause(waiter.permit));
            }
        } else {
            waiter.isTry |= admission == Admission.WITHOUT_WAITING;
            boolean hadNoGroups = waiters.groups.isEmpty();
            waiter.overtaken = waiters.add(waiter);
            if (hadNoGroups) {
                countWithoutGroup();
            }
            handOut(true, now, effects);
            if (waiter.inQueue && (waiter.needsStore() || !outageCalls.enter(now, effects))) {
                failures.failIfAway(waiter, now, effects);
            }
        }
    }

    /** Names were paused, or their pauses have ended. A call that enters the queue again is treated like a new one. */
    void pausesChanged(long now, Effects effects) {
        heldBack.takeFrom(waiters, effects);
        for (Waiter held : heldBack.inOrder()) {
            PauseState pause = host.pause(held.permit);
            if (pause == PauseState.UNKNOWN) {
                effects.execute(() -> host.findPause(held.permit));
            } else if (pause == PauseState.NONE && held.permit.policy().isUnlimited()) {
                serveUnlimited(held, now, effects);
                heldBack.remove(held);
            } else if (pause == PauseState.NONE
                    || (pause == PauseState.PAUSED && (!held.mayWait || host.admission() != Admission.ALL))) {
                enter(held, pause, now, effects);
                heldBack.remove(held);
            }
        }
    }

    /** Whether calls are held back. */
    boolean holdsBack() {
        return !heldBack.isEmpty();
    }

    /** The call does not wait any more. */
    void left(Waiter waiter) {
        waiters.remove(waiter);
        heldBack.remove(waiter);
    }

    /** Once there are groups, the permits that were granted before count as use of the calls without one. */
    private void countWithoutGroup() {
        if (!waiters.groups.isEmpty()) {
            for (Grant grant = ledger.holders.newest(); grant != null; grant = grant.previous) {
                waiters.groups.countWithoutGroup(grant);
            }
            outageCalls.countWithoutGroup();
        }
    }

    /** Serves a call whose name has no limit, without the store. */
    void serveUnlimited(Waiter waiter, long now, Effects effects) {
        Grant grant = host.unlimitedGrants().grant(waiter.permit, key, waiter.weight, now);
        if (grant == null) {
            waiter.refuse(Reason.SHUTTING_DOWN, effects);
        } else if (waiter.grant(grant, false)) {
            effects.ended(waiter, grant);
        } else {
            effects.execute(grant::release); // its caller has given up
        }
    }

    /** Names may have lost their limits: the calls of these names are served, and leave the queue. */
    void serveAllUnlimited(long now, Effects effects) {
        Waiter w = waiters.first();
        while (w != null) {
            Waiter following = w.next;
            if (w.permit.policy().isUnlimited()) {
                if (!(w instanceof OutageCall.Adoption)) {
                    serveUnlimited(w, now, effects);
                }
                waiters.remove(w);
            }
            w = following;
        }
    }

    /**
     * A call returns its permit, which passes to the next waiter of this process. It goes back to the store, which
     * serves its own queue, if other members wait and the hand-over slice has ended, or if more permits are in use than
     * the limit allows. {@code false} if the permit was lost before.
     */
    boolean release(Grant grant, long now, Effects effects) {
        if (grant.owner() instanceof OutageCall call && outageCalls.end(call)) {
            return true;
        }
        if (!ledger.letGo(grant)) {
            return ledger.holders.endLost(grant) && outageCalls.isOn();
        }
        passOn(grant, now, effects);
        return true;
    }

    /** Takes the permits of a call by order of an operator; returns how many. */
    int revoke(long call, long now, Effects effects) {
        Grant grant = ledger.holders.find(call);
        if (grant == null) {
            return 0;
        }
        ledger.holders.lose(grant, LossCause.TAKEN, effects);
        passOn(grant, now, effects);
        return grant.weight;
    }

    /** The permits of a grant are free. */
    private void passOn(Grant grant, long now, Effects effects) {
        if (!waiters.isEmpty()) {
            boolean isOthersTurn = ledger.isContended() && (isSliceOver(now) || isOnlyForHeadStarts());
            if ((ledger.isOver() || isOthersTurn) && !keepsAll()) {
                ledger.shrinkTo(ledger.granted() - grant.weight);
            }
            handOut(true, now, effects);
        } else if (!isClosing()) {
            lingering.begin(now);
        }
    }

    private boolean isSliceOver(long now) {
        return now - ledger.sliceStart() >= plan.answerTime.slice(policy);
    }

    /** Whether this member was served because of a call with a head start, and waits for permits of calls without one. */
    private boolean isOnlyForHeadStarts() {
        Waiter oldest = ledger.isGrantedAhead() ? waiters.oldest() : null;
        return oldest != null && !oldest.hasHeadStart();
    }

    /**
     * Applies an answer or a notification. If it can't be applied although its claim is later than the last applied
     * one, the lease of that claim ended before it arrived. Then another claim is sent, unless one is in flight or the
     * store can't have granted anything.
     */
    void takeIn(Holding holding, long now, Effects effects) {
        if (ledger.isOfAnotherEpoch(holding, plan.sent)) {
            limitNews.mayBeLost();
            ledger.enterEpoch(holding.epoch());
            plan.checkEpoch();
            plan.askAgain();
            plan.remembered(now);
            effects.execute(host::stateLost);
            return;
        }
        boolean wasInGrace = ledger.isInGrace();
        boolean isOfLaterClaim = ledger.isOfLaterClaim(holding);
        int overrideBefore = ledger.override();
        if (holding.others().grace() && !wasInGrace) {
            limitNews.mayBeLost();
        }
        if (ledger.apply(
                holding, plan.sent, plan.mostToAccept(holding, ledger, waiters), host.aliveUntil(), now, effects)) {
            waiters.limitsOfCallsApply(policy.isPerCall() && !ledger.mayBeOverridden());
            plan.confirmed(now, holding.others().recheckAfter().orElse(null));
            if (ledger.override() != overrideBefore) {
                waiters.pace.forget();
            }
            if (ledger.isInGrace() && !wasInGrace) {
                boolean moved = ledger.hasEnteredEpoch();
                effects.execute(() -> {
                    host.stateLost();
                    host.graceBegins(key, moved, policy.lease());
                });
            }
            PermitName last = users.last();
            if (last != null) {
                limitNews.answered(holding, policy.limit(), last, effects);
            }
        } else if (isOfLaterClaim && plan.sent.inFlight() == 0 && (holding.permits() > 0 || !plan.sent.isEmpty())) {
            plan.askAgain();
            plan.remembered(now);
        }
    }

    /** The store can be reached again, over a connection that may lead to another server. */
    void reachable() {
        plan.backoff.lift();
        plan.checkEpoch();
        if (ledger.epoch() != 0) {
            reclaim();
        }
    }

    /** The store has lost state: what is granted here has to be reclaimed before others are granted it. */
    void reclaim() {
        plan.checkEpoch();
        if (plan.sent.inFlight() == 0 && (ledger.granted() > 0 || !waiters.isEmpty())) {
            plan.askAgain();
        }
    }

    /** Whether nothing is lowered now, because the store can't be reached and may lose its state, see {@link ClaimPlan}. */
    private boolean keepsAll() {
        return plan.isOutOfContact(ledger) && !isClosing();
    }

    /** Ends the lingering of idle permits, so that the {@link #settle} that follows returns them. */
    void recall() {
        lingering.end();
    }

    /** The store has reported a change of the key. Only a member that waits or holds sends a claim because of it. */
    void changed() {
        if (!waiters.isEmpty() || ledger.granted() > 0) {
            plan.askAgain();
        }
    }

    /** The store has deleted all records of the member, so all earlier claims and their answers are void. */
    private void sessionLost(Effects effects) {
        limitNews.mayBeLost();
        ledger.loseAll(LossCause.SESSION_ENDED, effects);
        ledger.distrust();
        plan.forgotten();
    }

    /** Fewer calls are admitted: waiting calls are rejected, idle permits are returned. Those that hold permits go on. */
    void admitFewer(Effects effects) {
        lingering.end();
        endWaiting(effects);
    }

    /**
     * Rejects the calls that wait. One whose first claim is not answered yet may still get a free permit by that answer, unless no
     * calls are admitted any more. Calls that run without a record in the store do not ask for one any more.
     */
    private void endWaiting(Effects effects) {
        boolean all = host.admission() == Admission.NONE;
        Outcome end = new Refused(Reason.SHUTTING_DOWN);
        heldBack.end(end, effects);
        waiters.end(waiter -> all || waiter instanceof OutageCall.Adoption, end, effects);
        waiters.stopQueueing();
    }

    /**
     * Ends every event. The order matters: it serves before it returns, so that no permit is returned that a waiting
     * call can use, and it returns before it plans, so that the claim contains the final numbers.
     */
    void settle(long now, Effects effects) {
        rejections.rejectTooHeavy(effects);
        handOut(false, now, effects);
        outageCalls.serve(now, effects);
        waiters.noteAnswered(ledger.appliedSequence());
        rejections.rejectTries(effects);
        returnIdle(now);
        if (plan.isRecheck(now) && plan.sent.inFlight() == 0) { // the answer on its way is still that of a try
            waiters.tryAgain();
        }
        int wanted = plan.wanted(ledger, waiters, now);
        if (plan.isDue(wanted, ledger, waiters, usesLeases(), now)
                && plan.maySend(waiters, ledger.isContended(), now)
                && !leavesStoreAlone()) {
            plan.makeClaim(host.nextSequence(), wanted, ledger, waiters, usesLeases(), now, effects);
            failures.sent(now);
        }
        forgetReturned(now);
    }

    /**
     * Whether no claim is sent, because all calls run without the store and nothing is recorded there. The registry finds out
     * for all keys whether the store answers.
     */
    private boolean leavesStoreAlone() {
        return outageCalls.isOn() && ledger.granted() == 0 && !ledger.owes() && waiters.allMayRunWithoutStore();
    }

    /** Whether the call has a permit that the store has not recorded. */
    boolean runsWithoutStore(Grant grant) {
        return grant.owner() instanceof OutageCall call && call.counted;
    }

    /**
     * The limit within which the permits in use are, as of the last answer: calls with a lower one have to ask the store, unless an
     * operator's limit applies. If more are in use, permits that were granted under an earlier claim have to go back.
     */
    private int limitOfIdle() {
        if (!policy.isPerCall() || ledger.mayBeOverridden()) {
            return 0;
        }
        return ledger.isOver() ? Integer.MAX_VALUE : ledger.statedLimit();
    }

    /**
     * Serves the next calls of the queue from idle permits, as long as they are valid. A head that needs more permits than
     * are idle blocks those behind it, so that it can't starve.
     *
     * @param fromCall whether the permits come from a call of this process, perhaps a while ago, and not with an answer of the store
     *     in this event: the next claim has to report that they were handed over
     */
    private void handOut(boolean fromCall, long now, Effects effects) {
        int least = limitOfIdle();
        while (ledger.idle() > 0) {
            Waiter w = waiters.next(least);
            if (w == null || w.weight > ledger.idle() || now >= validUntil()) {
                return;
            }
            OutageCall running = w instanceof OutageCall.Adoption adoption ? adoption.call : null;
            Grant grant = running == null ? ledger.grant(owner, w.permit, w.weight, now) : running.grant;
            if (running == null) {
                grant.group = w.group;
            }
            // the order is: decide, count, remove. After an error in between, mend() completes what is missing
            if (w.grant(grant, fromCall)) {
                ledger.hold(grant);
                waiters.served(w, now);
                if (running != null) {
                    outageCalls.recorded(running);
                }
                effects.ended(w, grant);
                if (fromCall) {
                    plan.passedOn();
                }
            }
            waiters.remove(w);
        }
    }

    /**
     * Lowers the member's own count by its idle permits, unless they may linger. The claim that returns them follows.
     */
    private void returnIdle(long now) {
        if (ledger.idle() <= 0) {
            lingering.end();
            return;
        }
        if (mayBeIdle() && lingering.lasts(now)) {
            return;
        }
        lingering.end();
        if (!keepsAll()) {
            ledger.shrinkTo(ledger.inUse());
        }
    }

    /** Whether no call here and, as of the last answer, no other member wants the permits that are not in use. */
    boolean mayBeIdle() {
        return waiters.isEmpty() && !isClosing() && !ledger.isContended() && !ledger.isOver();
    }

    /**
     * Stops repeating a failed return once every lease of this member has certainly ended, because then the store has
     * nothing left to return. A store with sessions keeps the records until the session ends, and notifies of that end.
     */
    private void forgetReturned(long now) {
        boolean lapsed = usesLeases() && now >= plan.rememberedUntil();
        boolean unused = waiters.isEmpty() && ledger.granted() == 0 && plan.sent.inFlight() == 0;
        if (lapsed && unused && plan.backoff.isFailing()) {
            plan.forgotten();
            ledger.forgotten();
            plan.backoff.answered();
        }
    }

    /** Whether neither a call nor the store needs this queue. */
    boolean isUnused(long now) {
        return ledger.granted() == 0
                && waiters.isEmpty()
                && heldBack.isEmpty()
                && outageCalls.inUse() == 0
                && (!outageCalls.countsLost() || ledger.holders.lostInUse() == 0)
                && plan.sent.isEmpty()
                && !plan.isDue(0, ledger, waiters, usesLeases(), now);
    }

    boolean isClosing() {
        return host.admission() != Admission.ALL;
    }

    /** When the timer fires next. An unused queue has one more event a command time-out from now, which retires it. */
    long nextTime(long now) {
        long at = Times.NEVER;
        SentClaim oldest = plan.sent.oldestInFlight();
        if (oldest != null) {
            at = oldest.nextLook(now, policy);
        } else if (now < plan.backoff.until()) {
            at = plan.backoff.until();
        } else if (!leavesStoreAlone()) {
            at = plan.nextTimed(ledger.granted(), waiters, usesLeases());
        }
        if (ledger.granted() > 0 && usesLeases()) {
            at = Math.min(at, ledger.validUntil());
        }
        if (ledger.idle() > 0) {
            at = Math.min(at, lingering.until());
        }
        at = Math.min(at, failures.hopelessAt());
        if (holdsBack()) {
            at = Math.min(at, now + policy.commandTimeout());
        }
        return at != Times.NEVER || ledger.granted() > 0 ? at : now + policy.commandTimeout();
    }

    /** Until when the permits of this process are certainly recorded in the store. */
    long validUntil() {
        if (usesLeases()) {
            return ledger.validUntil();
        }
        // the time is read before the count: so the time of a new session never meets the count of the old one
        long until = host.aliveUntil();
        return host.lostSessions() == seenLost ? until : Long.MIN_VALUE;
    }

    /** Whether permits expire by leases; otherwise by the session of the member. */
    private boolean usesLeases() {
        return host.aliveUntil() == Times.NEVER;
    }

    /** The callbacks of grants and claims, which the queue of the key implements. */
    interface Callbacks extends Grant.Owner, SentClaim.Answers {}
}
