package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.key.Outcome.Failed;
import io.github.distributedpermit.core.key.Outcome.Refused;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.StackRoom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one key. Every event begins with {@link #begin}, which ends what has expired, then makes its
 * change, and ends with {@link #settle}, which serves waiters from idle permits, returns permits that are not needed,
 * and decides whether a claim is due.
 *
 * <p>It coordinates its parts: the waiting calls ({@link WaiterQueue}), the permits granted and in use
 * ({@link Ledger}), the next claim ({@link ClaimPlan}), the consequences of failed claims for calls
 * ({@link ClaimFailures}), and the time for which idle permits stay ({@link Lingering}). Guarded by the lock of its
 * {@link KeyQueue}; actions that must run without the lock are collected in {@link Effects}.
 */
final class KeyQueueState {

    final WaiterQueue waiters = new WaiterQueue();
    final Ledger ledger;
    final ClaimPlan plan;
    final ClaimFailures failures;
    final Lingering lingering;
    final OutageCalls withoutStore;
    private final String key;
    private final Grant.Owner owner;
    private final KeyQueueHost host;
    private Policy policy;

    /** The operator's limit when the records of this member were lost; {@code null} if it is certain. */
    private @Nullable Integer limitAtLoss;

    /** The calls whose names are paused, or may be: they ask for nothing, and enter the queue when that has ended. */
    private Set<Waiter> heldBack = Collections.emptySet();

    private @Nullable PermitStats lastStats;

    /** Whether calls of more than one name have used the key. */
    private boolean severalNames;

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
        this.withoutStore = new OutageCalls(key, queue, policy, host, waiters, ledger);
        this.failures = new ClaimFailures(policy, host, waiters, ledger, plan, withoutStore);
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
        withoutStore.adopt(settings);
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
        if (withoutStore.hasEnded()) {
            withoutStore.leave();
            failures.storeIsBack(now);
            if (isClosing()) {
                endWaiting(effects);
            }
            if (!waiters.isEmpty()) {
                plan.askAgain();
            }
        }
        failures.lookAtTheClock(now, usesLeases(), effects);
    }

    /**
     * Repairs the state after an error. The grants in use and the waiting calls are certain, since every event records
     * them first. All other permits are returned, and a new claim sends the corrected numbers to the store.
     */
    void mend(Effects effects) {
        waiters.mend(ledger, withoutStore, effects);
        heldBack.removeIf(waiter -> {
            Outcome outcome = waiter.outcome();
            if (outcome != null) {
                effects.ended(waiter, outcome);
            }
            return outcome != null || waiter.inQueue;
        });
        ledger.mend();
        withoutStore.mend();
        plan.mend();
    }

    /** A call arrives: it is served, rejected, or waits. */
    void enter(Waiter waiter, long now, Effects effects) {
        PauseState pause = host.pause(waiter.stats);
        if (pause == PauseState.NONE && !heldBack.isEmpty()) {
            pausesChanged(now, effects); // so that it does not overtake those that have waited for the end of the pause
        }
        enter(waiter, pause, now, effects);
    }

    private void enter(Waiter waiter, PauseState pause, long now, Effects effects) {
        usedBy(waiter.stats);
        Admission admission = host.admission();
        if (admission == Admission.NONE) {
            refuse(waiter, Reason.SHUTTING_DOWN, effects);
        } else if (pause != PauseState.NONE) {
            holdBack(waiter, pause, admission, effects);
        } else if (isFull(waiter)) {
            refuse(waiter, Reason.QUEUE_FULL, effects);
        } else if (isHopeless(waiter, now)) {
            refuse(waiter, Reason.WOULD_TIME_OUT, effects);
        } else {
            waiter.isTry |= admission == Admission.WITHOUT_WAITING;
            boolean hadNoGroups = waiters.groups.isEmpty();
            waiter.overtaken = waiters.add(waiter);
            if (hadNoGroups) {
                countWithoutGroup();
            }
            handOut(true, now, effects);
            if (waiter.inQueue && (waiter.needsStore() || !withoutStore.enter(now, effects))) {
                needStore(waiter, now, effects);
            }
        }
    }

    /** A call whose name is paused waits as for a key that is paused. Until that is known, none is rejected. */
    private void holdBack(Waiter waiter, PauseState pause, Admission admission, Effects effects) {
        if (pause == PauseState.UNKNOWN) {
            keepBack(waiter);
            effects.execute(() -> host.findPause(waiter.stats));
        } else if (admission != Admission.ALL) {
            refuse(waiter, Reason.SHUTTING_DOWN, effects);
        } else if (!waiter.queueing) {
            refuse(waiter, Reason.LIMIT_REACHED, effects);
        } else if (waiting() >= waiter.stats.policy().maxWaiting()) {
            refuse(waiter, Reason.QUEUE_FULL, effects);
        } else {
            keepBack(waiter);
        }
    }

    private void keepBack(Waiter waiter) {
        StackRoom.check(); // an error within the set could lose the call
        if (heldBack.isEmpty()) {
            heldBack = new LinkedHashSet<>();
        }
        heldBack.add(waiter);
    }

    /**
     * Names were paused, or their pauses have ended. A call that waited gives up its place here and in the store, but keeps its age. One that
     * enters the queue again is treated like a new one.
     */
    void pausesChanged(long now, Effects effects) {
        Waiter w = waiters.firstCall();
        while (w != null) {
            Waiter following = w.next;
            if (host.pause(w.stats) == PauseState.PAUSED) {
                if (w.isTry) {
                    refuse(w, w.queueing ? Reason.SHUTTING_DOWN : Reason.LIMIT_REACHED, effects);
                } else {
                    keepBack(w);
                }
                waiters.remove(w);
                w.hasToWait = false;
                w.firstClaim = Waiter.UNCLAIMED;
                w.ownClaim = Waiter.UNCLAIMED;
            }
            w = following;
        }
        List<Waiter> inOrder = new ArrayList<>(heldBack);
        inOrder.sort(Comparator.comparingLong(each -> each.queuedAt));
        for (Waiter held : inOrder) {
            PauseState pause = host.pause(held.stats);
            if (pause == PauseState.UNKNOWN) {
                effects.execute(() -> host.findPause(held.stats));
            } else if (pause == PauseState.NONE && held.stats.policy().isUnlimited()) {
                pass(held, now, effects);
                heldBack.remove(held);
            } else if (pause == PauseState.NONE
                    || (pause == PauseState.PAUSED && (!held.queueing || host.admission() != Admission.ALL))) {
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

    /** How many calls wait. */
    int waiting() {
        return waiters.size() + heldBack.size();
    }

    /** Adds the calls that wait, until the list has so many. */
    void describeWaiting(long now, int most, List<CallView> views) {
        waiters.describe(now, most, views);
        for (Waiter held : heldBack) {
            if (views.size() < most) {
                views.add(held.view(CallView.State.WAITING, held.arrival, now));
            }
        }
    }

    /** Once there are groups, the permits that were granted before count as use of the calls without one. */
    private void countWithoutGroup() {
        if (!waiters.groups.isEmpty()) {
            for (Grant grant = ledger.holders.newest(); grant != null; grant = grant.previous) {
                waiters.groups.countWithoutGroup(grant);
            }
            withoutStore.countWithoutGroup();
        }
    }

    /**
     * Whether as many calls have to wait as may. A call on its way to the store does not wait: its permit may be free. It has to wait
     * if an answer has shown so, if claims fail, or if there are more such calls than permits.
     */
    private boolean isFull(Waiter arriving) {
        int most = arriving.stats.policy().maxWaiting();
        int moreThanMayWait = waiters.size() - most;
        if (moreThanMayWait < 0) {
            return false;
        }
        return waiters.provenWaiting() >= most
                || plan.backoff.isFailing()
                || moreThanMayWait >= highestLimit(arriving) - ledger.inUse();
    }

    /**
     * Whether the settings want such calls rejected, and its time-out will surely pass before its turn. While the store fails that is a
     * matter of the store.
     */
    private boolean isHopeless(Waiter arriving, long now) {
        long left = Math.max(0, arriving.deadline - now);
        return arriving.stats.policy().rejectHopeless()
                && arriving.queueing
                && waiters.pace.least(waiters.weight(), now) > left // saves most calls from a look at each one
                && !plan.backoff.isFailing()
                && !withoutStore.isOn()
                && waiters.pace.least(waiters.ahead(arriving, ledger.inUse() >= highestLimit(arriving), now), now)
                        > left;
    }

    /** The limit that the store may apply to a claim for this call, as far as is known. */
    private int highestLimit(Waiter head) {
        Integer known = ledger.knownLimit();
        int stated = plan.limitFor(head);
        return known == null ? stated : Math.max(known, stated);
    }

    /** A call that was not served can only wait for the store. It fails at once if the store is known not to answer. */
    private void needStore(Waiter waiter, long now, Effects effects) {
        Throwable away = failures.away(now);
        if (away != null && (waiter.needsStore() || !waiter.queueing || !failures.mayRunSoon(now))) {
            waiters.remove(waiter);
            end(waiter, new Failed(away), effects);
        }
    }

    /** A call whose name has no limit: it is served without the store. */
    void pass(Waiter waiter, long now, Effects effects) {
        Grant grant = host.storeless().grant(waiter.stats, key, waiter.weight, now);
        if (grant == null) {
            refuse(waiter, Reason.SHUTTING_DOWN, effects);
        } else if (waiter.grant(grant, false)) {
            effects.ended(waiter, grant);
        } else {
            effects.execute(grant::release); // its caller has given up
        }
    }

    /** Names may have lost their limits: the calls of these names are served, and leave the queue. */
    void passUnlimited(long now, Effects effects) {
        Waiter w = waiters.first();
        while (w != null) {
            Waiter following = w.next;
            if (w.stats.policy().isUnlimited()) {
                if (!(w instanceof OutageCall.Adoption)) {
                    pass(w, now, effects);
                }
                waiters.remove(w);
            }
            w = following;
        }
    }

    private static void refuse(Waiter waiter, Reason reason, Effects effects) {
        end(waiter, new Refused(reason), effects);
    }

    private static void end(Waiter waiter, Outcome outcome, Effects effects) {
        if (waiter.decide(outcome)) {
            effects.ended(waiter, outcome);
        }
    }

    /**
     * A call returns its permit, which passes to the next waiter of this process. It goes back to the store, which
     * serves its own queue, if other members wait and the hand-over slice has ended, or if more permits are in use than
     * the limit allows. {@code false} if the permit was lost before.
     */
    boolean release(Grant grant, long now, Effects effects) {
        if (grant.owner() instanceof OutageCall call && withoutStore.end(call)) {
            return true;
        }
        if (!ledger.letGo(grant)) {
            return ledger.holders.endLost(grant) && withoutStore.isOn();
        }
        passOn(grant, now, effects);
        return true;
    }

    /** Takes the permits of a call by order of an operator; returns how many. */
    int take(long call, long now, Effects effects) {
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
            boolean sliceIsOver = ledger.isContended() && now - ledger.sliceStart() >= plan.answerTime.slice(policy);
            if ((ledger.isOver() || sliceIsOver) && !keepsAll()) {
                ledger.shrinkTo(ledger.granted() - grant.weight);
            }
            handOut(true, now, effects);
        } else if (!isClosing()) {
            lingering.begin(now);
        }
    }

    /**
     * Applies an answer or a notification. If it can't be applied although its claim is later than the last applied
     * one, the lease of that claim ended before it arrived. Then another claim is sent, unless one is in flight or the
     * store can't have granted anything.
     */
    void takeIn(Holding holding, long now, Effects effects) {
        if (ledger.isOfAnotherEpoch(holding, plan.sent)) {
            noteOverride();
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
            noteOverride();
        }
        if (ledger.apply(holding, plan.sent, plan.mostToAccept(ledger), host.aliveUntil(), now, effects)) {
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
            if (lastStats != null) {
                noteLimit(holding, lastStats, effects);
                checkOverride(holding, lastStats, effects);
            }
        } else if (isOfLaterClaim && plan.sent.inFlight() == 0 && (holding.permits() > 0 || !plan.sent.isEmpty())) {
            plan.askAgain();
            plan.remembered(now);
        }
    }

    private void noteOverride() {
        Integer known = ledger.knownLimit();
        if (known != null && ledger.isOverridden()) {
            limitAtLoss = known;
        }
    }

    /** A limit that an operator has set may be lost with the state of the store. */
    private void checkOverride(Holding holding, PermitStats stats, Effects effects) {
        Integer before = limitAtLoss;
        limitAtLoss = null;
        if (before != null && !ledger.isOverridden()) {
            effects.execute(() -> stats.warnOfLostOverride(key, before, holding.limit()));
        }
    }

    /** Keeps the limit for the gauges, and warns of applications that state different limits. */
    private void noteLimit(Holding holding, PermitStats stats, Effects effects) {
        if (host.watch().noteLimit(key, holding.limit(), ledger.statedLimit())) {
            effects.execute(() -> host.limitChanged(key));
        }
        stats.limitIs(holding.limit(), holding.others().over());
        if (holding.others().over() && holding.limit() == policy.limit() && stats.isNewToHigherLimits()) {
            effects.execute(() -> stats.warnOfHigherLimit(key));
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
        noteOverride();
        ledger.loseAll(LossCause.SESSION_ENDED, effects);
        ledger.distrust();
        plan.forgotten();
    }

    /** Fewer calls are admitted: waiting calls are rejected, idle permits are returned. */
    void admissionChanged(Effects effects) {
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
        heldBack.forEach(waiter -> end(waiter, end, effects));
        heldBack = Collections.emptySet();
        waiters.end(waiter -> all || waiter instanceof OutageCall.Adoption, end, effects);
        waiters.stopQueueing();
    }

    /**
     * Ends every event. The order matters: it serves before it returns, so that no permit is returned that a waiting
     * call can use, and it returns before it plans, so that the claim contains the final numbers.
     */
    void settle(long now, Effects effects) {
        rejectTooHeavy(effects);
        handOut(false, now, effects);
        withoutStore.serve(now, effects);
        waiters.noteAnswered(ledger.appliedSequence());
        rejectTries(effects);
        returnIdle(now);
        if (plan.isRecheck(now) && plan.sent.inFlight() == 0) { // the answer on its way is still that of a try
            waiters.tryAgain();
        }
        int wanted = wanted(now);
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
        return withoutStore.isOn() && ledger.granted() == 0 && !ledger.owes() && waiters.allMayRunWithoutStore();
    }

    /** Whether the call has a permit that the store has not recorded. */
    boolean runsWithoutStore(Grant grant) {
        return grant.owner() instanceof OutageCall call && call.counted;
    }

    /** How many permits calls have, of the store or without it. */
    int inUse() {
        return ledger.inUse() + withoutStore.inUse();
    }

    /**
     * Rejects calls that ask for more permits than the limit in effect. A call is rejected only by the answer to a
     * claim that was sent after it arrived, because the limit of an older answer may be outdated. A limit of 0 pauses
     * the key and rejects no call.
     */
    private void rejectTooHeavy(Effects effects) {
        Integer limit = ledger.knownLimit();
        if (policy.isPerCall() && !ledger.mayBeOverridden()) {
            return; // a call with its own limit asks for no more than that
        }
        if (limit != null && limit > 0 && waiters.heaviest() > limit) {
            long applied = ledger.appliedSequence();
            waiters.end(w -> w.weight > limit && w.wasClaimedBy(applied), new Refused(Reason.ABOVE_LIMIT), effects);
        }
    }

    /** Rejects calls that do not wait, once a claim that was sent after they arrived has been answered. */
    private void rejectTries(Effects effects) {
        if (waiters.hasTries()) {
            Waiter head = waiters.head();
            Outcome end =
                    ledger.isInGrace() ? new Failed(ClaimFailures.inGrace(policy)) : new Refused(Reason.LIMIT_REACHED);
            waiters.end(w -> !w.queueing && waiters.isAnswered(w, head), end, effects);
            Outcome closing = new Refused(Reason.SHUTTING_DOWN);
            waiters.end(w -> w.isTry && waiters.isAnswered(w, head), closing, effects);
        }
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
     * @param passing whether a permit that is handed out passes from call to call, which the next claim has to report
     */
    private void handOut(boolean passing, long now, Effects effects) {
        int least = limitOfIdle();
        while (ledger.idle() > 0) {
            Waiter w = waiters.next(least);
            if (w == null || w.weight > ledger.idle() || now >= validUntil()) {
                return;
            }
            OutageCall running = w instanceof OutageCall.Adoption adoption ? adoption.call : null;
            Grant grant = running == null ? ledger.grant(owner, w.stats, w.weight, now) : running.grant;
            if (running == null) {
                grant.group = w.group;
            }
            // the order is: decide, count, remove. After an error in between, mend() completes what is missing
            if (w.grant(grant, passing)) {
                ledger.hold(grant);
                waiters.served(w, now);
                if (running != null) {
                    withoutStore.recorded(running);
                }
                effects.ended(w, grant);
                if (passing) {
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

    /** A call of this name has arrived. */
    void usedBy(PermitStats stats) {
        // written only if it changes, because each write invalidates the cache line for the other processors
        if (lastStats != stats) {
            severalNames |= lastStats != null;
            lastStats = stats;
        }
    }

    /** The name that was last used; {@code null} if none was. */
    @Nullable
    PermitStats lastUsedBy() {
        return lastStats;
    }

    /** The names of the calls that hold or wait. */
    Set<PermitStats> names() {
        Set<PermitStats> names = new HashSet<>();
        if (severalNames) {
            for (Grant g = ledger.holders.newest(); g != null; g = g.previous) {
                names.add(g.stats);
            }
            for (Waiter w = waiters.first(); w != null; w = w.next) {
                names.add(w.stats);
            }
            heldBack.forEach(w -> names.add(w.stats));
        } else if (lastStats != null && (ledger.inUse() > 0 || !waiters.isEmpty() || !heldBack.isEmpty())) {
            names.add(lastStats);
        }
        return names;
    }

    /**
     * For gauges, see {@link KeyQueue#survey}. With several names it shows all calls, so that no name hides another; so
     * it does with head starts, since the first call may not be the oldest one.
     */
    void survey(KeyQueueVisitor visitor) {
        Grant grant = severalNames ? ledger.holders.newest() : ledger.holders.oldest();
        while (grant != null) {
            visitor.holds(grant.stats, key, grant.grantedAt);
            grant = severalNames ? grant.previous : null;
        }
        boolean all = severalNames || waiters.hasHeadStarts();
        Waiter waiter = waiters.firstCall();
        while (waiter != null) {
            visitor.waits(waiter.stats, key, waiter.arrival, waiter.inner);
            waiter = all ? waiter.next : null;
        }
        heldBack.forEach(held -> visitor.waits(held.stats, key, held.arrival, held.inner));
        waiters.groups.all().forEach(group -> {
            if (group.waiting > 0) {
                visitor.group(group.stats);
            }
        });
    }

    /** Whether no call here and, as of the last answer, no other member wants the permits that are not in use. */
    boolean mayBeIdle() {
        return waiters.isEmpty() && !isClosing() && !ledger.isContended() && !ledger.isOver();
    }

    /**
     * How many permits a claim asks for: those in use, those that waiters want, and those that linger. It exceeds the
     * limit only if the permits in use and the head of the queue together do. A member that gets no answers asks only for
     * what is in use, see {@link ClaimPlan#getsNoAnswers}.
     */
    private int wanted(long now) {
        if (plan.getsNoAnswers(now)) {
            return ledger.inUse();
        }
        Waiter head = waiters.head();
        if (head == null) {
            return ledger.granted();
        }
        long most = Math.max(highestLimit(head), (long) ledger.inUse() + head.weight);
        return (int) Math.min(most, ledger.inUse() + waiters.weight(head.limit));
    }

    /**
     * Stops repeating a failed return once every lease of this member has certainly ended, because then the store has
     * nothing left to return. A store with sessions keeps the records until the session ends, and notifies of that end.
     */
    private void forgetReturned(long now) {
        boolean lapsed = usesLeases() && now >= plan.rememberedUntil();
        if (lapsed && waiters.isEmpty() && ledger.granted() == 0 && plan.backoff.isFailing()) {
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
                && withoutStore.inUse() == 0
                && (ledger.holders.lostInUse() == 0 || !withoutStore.countsLost())
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
            at = oldest.overdueAt(policy);
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
