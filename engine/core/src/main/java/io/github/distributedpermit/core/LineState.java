package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.Outcome.Failed;
import io.github.distributedpermit.core.Outcome.Refused;
import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one key: every event begins with a look at the clock and ends with {@link #settle}, which hands
 * out, gives back and decides on a claim. Guarded by the lock of its line; what leaves the lock goes into
 * {@link Effects}.
 */
final class LineState {

    static final long NEVER = Long.MAX_VALUE;

    final WaiterQueue waiters = new WaiterQueue();
    final Ledger ledger;
    final ClaimPlan plan;
    final Contact contact;
    final Lingering lingering;
    private final KeyLine line;
    private final LineHost host;
    private Policy policy;

    private boolean closing;
    private @Nullable NameUse lastUse;
    /** So many losses of the member's session have been dealt with here. */
    private long seenLost;

    LineState(KeyLine line, Policy policy, boolean closing, LineHost host) {
        this.closing = closing;
        this.line = line;
        this.policy = policy;
        this.host = host;
        this.ledger = new Ledger(policy);
        this.plan = new ClaimPlan(line, policy);
        this.contact = new Contact(policy, host, waiters, ledger, plan);
        this.lingering = new Lingering(policy, host);
        this.seenLost = host.lostSessions();
    }

    Policy policy() {
        return policy;
    }

    void adopt(Policy settings) {
        policy = settings;
        ledger.adopt(settings);
        plan.adopt(settings);
        contact.adopt(settings);
        lingering.adopt(settings);
    }

    /** What every event begins with: time has passed. */
    void begin(long now, Effects effects) {
        long lost = host.lostSessions();
        if (lost != seenLost) {
            sessionLost(effects);
            seenLost = lost; // last, so that the next event repeats what an error cuts short
        }
        if (ledger.granted() > 0 && now >= validUntil()) {
            ledger.loseAll(effects);
            plan.askAgain();
        }
        contact.lookAtTheClock(now, usesLeases(), effects);
    }

    /** After an error: what is in use and who waits is certain; whatever else is held goes back, with a new claim. */
    void mend(Effects effects) {
        waiters.mend(ledger, effects);
        ledger.mend();
        plan.mend();
    }

    void enter(Waiter waiter, long now, Effects effects) {
        usedBy(waiter.use);
        if (closing) {
            refuse(waiter, Reason.SHUTTING_DOWN, effects);
        } else if (waiters.size() >= policy.maxWaiters()) {
            refuse(waiter, Reason.LINE_FULL, effects);
        } else {
            waiters.add(waiter);
            handOut(true, now, effects);
            Throwable away = waiter.inLine ? contact.away(now) : null;
            if (away != null) {
                waiters.remove(waiter);
                end(waiter, new Failed(away), effects);
            } else if (waiter.inLine && !waiter.queueing) {
                plan.newTry();
            }
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

    /** {@code false} if the permit was lost before. */
    boolean release(Grant grant, long now, Effects effects) {
        if (!ledger.letGo(grant)) {
            return false;
        }
        if (!waiters.isEmpty()) {
            boolean sliceIsOver = ledger.isContended() && now - ledger.sliceStart() >= policy.slice();
            if (ledger.isOver() || sliceIsOver) {
                ledger.shrinkTo(ledger.granted() - grant.weight);
                plan.giveBack();
            }
            handOut(true, now, effects);
        } else if (!closing) {
            lingering.begin(now);
        }
        return true;
    }

    /** An answer or a push. */
    void takeIn(Holding holding, long now, Effects effects) {
        boolean beyond = ledger.isBeyond(holding);
        if (ledger.apply(holding, plan.sent, plan.cap(ledger.granted()), host.aliveUntil(), now, effects)) {
            plan.confirmed(ledger.appliedSequence(), now, holding.recheckAfter().orElse(null));
            if (lastUse != null) {
                heard(holding, lastUse, effects);
            }
        } else if (beyond && plan.sent.inFlight() == 0 && (holding.permits() > 0 || !plan.sent.isEmpty())) {
            plan.askAgain();
            plan.remembered(now);
        }
    }

    private void heard(Holding holding, NameUse use, Effects effects) {
        use.heardLimit(holding.limit());
        if (holding.over() && holding.limit() == policy.limit() && use.isNewToHigherLimits()) {
            effects.run(() -> use.warnOfHigherLimit(line.key()));
        }
    }

    /** Permits that lie idle go back. */
    void recall() {
        lingering.end();
    }

    void changed() {
        if (!waiters.isEmpty() || ledger.granted() > 0) {
            plan.askAgain();
        }
    }

    private void sessionLost(Effects effects) {
        ledger.loseAll(effects);
        ledger.distrust();
        plan.forgotten();
    }

    void close(Effects effects) {
        closing = true;
        lingering.end();
        waiters.end(waiter -> true, new Refused(Reason.SHUTTING_DOWN), effects);
    }

    /** What every event ends with. */
    void settle(long now, Effects effects) {
        rejectTooHeavy(effects);
        handOut(false, now, effects);
        rejectTries(effects);
        returnIdle(now);
        int wanted = wanted(now);
        if (plan.isDue(wanted, ledger.granted(), waiters, usesLeases(), now)
                && plan.maySend(waiters, ledger.isContended(), now)) {
            plan.send(host.nextSequence(), wanted, ledger, waiters, now, effects);
            contact.sent(now);
        }
        forgetReturned(now);
    }

    /** A claim sent after the call came was confirmed with a limit it can never fit into; a limit of 0 is a pause. */
    private void rejectTooHeavy(Effects effects) {
        Integer limit = ledger.knownLimit();
        if (limit != null && limit > 0 && waiters.heaviest() > limit) {
            long applied = ledger.appliedSequence();
            waiters.end(w -> w.weight > limit && w.wasClaimedBy(applied), new Refused(Reason.ABOVE_LIMIT), effects);
        }
    }

    private void rejectTries(Effects effects) {
        if (waiters.hasTries()) {
            long applied = ledger.appliedSequence();
            waiters.end(w -> !w.queueing && w.wasClaimedBy(applied), new Refused(Reason.LIMIT_REACHED), effects);
        }
    }

    private void handOut(boolean passing, long now, Effects effects) {
        for (Waiter w = waiters.first(); w != null && w.weight <= ledger.idle(); w = waiters.first()) {
            if (now >= validUntil()) {
                return;
            }
            Grant grant = ledger.grant(line, w.use, w.weight, now);
            // in this order, so that the next event can see what is missing if an error cuts this one short
            if (w.decide(grant)) {
                ledger.hold(grant);
                effects.ended(w, grant);
                if (passing) {
                    plan.passedOn();
                    effects.handedOver(grant);
                }
            }
            waiters.remove(w);
        }
    }

    private void returnIdle(long now) {
        if (ledger.idle() <= 0) {
            lingering.end();
            return;
        }
        if (mayBeIdle() && lingering.lasts(now)) {
            return;
        }
        lingering.end();
        boolean others = ledger.isContended() || ledger.isOver();
        ledger.shrinkTo(ledger.inUse());
        if (others || !waiters.isEmpty()) {
            plan.giveBack();
        } else {
            plan.owe();
        }
    }

    /** A call of this name has come. */
    void usedBy(NameUse use) {
        if (lastUse != use) { // a write that changes nothing costs as much as one that does
            lastUse = use;
        }
    }

    /** Whether nobody here or elsewhere is known to want the permits that are not in use. */
    boolean mayBeIdle() {
        return waiters.isEmpty() && !closing && !ledger.isContended() && !ledger.isOver();
    }

    /** In use, waiting for and lingering; more than the limit only as far as the oldest waiter needs it. */
    private int wanted(long now) {
        if (plan.isProbing(now)) {
            return ledger.inUse();
        }
        Waiter oldest = waiters.first();
        if (oldest == null) {
            return ledger.granted();
        }
        Integer known = ledger.knownLimit();
        int limit = known == null ? policy.limit() : Math.max(known, policy.limit());
        long most = Math.max(limit, (long) ledger.inUse() + oldest.weight);
        return (int) Math.min(most, ledger.inUse() + waiters.weight());
    }

    /**
     * Once the store must have forgotten what this member held, nothing has to be returned any more. A store with
     * sessions remembers it for as long as the session lives, and tells of its end.
     */
    private void forgetReturned(long now) {
        boolean lapsed = usesLeases() && now >= plan.rememberedUntil();
        if (lapsed && waiters.isEmpty() && ledger.granted() == 0 && plan.backoff.isFailing()) {
            plan.forgotten();
            plan.backoff.answered();
        }
    }

    /** Whether nothing here matters to calls or to the store. */
    boolean isUnused(long now) {
        return ledger.granted() == 0
                && waiters.isEmpty()
                && plan.sent.isEmpty()
                && !plan.isDue(0, 0, waiters, usesLeases(), now);
    }

    boolean isClosing() {
        return closing;
    }

    /** When something falls due by itself. A line without anything to do is looked at once more, to be retired. */
    long nextTime(long now) {
        long at = NEVER;
        SentClaim oldest = plan.sent.oldestInFlight();
        if (oldest != null) {
            at = oldest.overdueAt(policy);
        } else if (now < plan.backoff.until()) {
            at = plan.backoff.until();
        } else {
            at = plan.nextTimed(ledger.granted(), waiters, usesLeases());
        }
        if (ledger.granted() > 0 && usesLeases()) {
            at = Math.min(at, ledger.validUntil());
        }
        if (ledger.idle() > 0) {
            at = Math.min(at, lingering.until());
        }
        at = Math.min(at, contact.hopelessAt());
        return at != NEVER || ledger.granted() > 0 ? at : now + policy.commandTimeout();
    }

    long validUntil() {
        if (usesLeases()) {
            return ledger.validUntil();
        }
        // in this order: the next session begins after its predecessor's loss was counted
        long until = host.aliveUntil();
        return host.lostSessions() == seenLost ? until : Long.MIN_VALUE;
    }

    private boolean usesLeases() {
        return host.aliveUntil() == NEVER;
    }
}
