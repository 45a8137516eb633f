package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.key.Outcome.Failed;
import io.github.distributedpermit.core.key.Outcome.Refused;
import org.jspecify.annotations.Nullable;

/**
 * Which calls of one key are rejected: some when they arrive, others by the answer to a claim that was sent after they arrived. Failures
 * of the store are a matter of {@link ClaimFailures}. Guarded by the lock of the {@link KeyQueue}.
 */
final class Rejections {

    private final WaiterQueue waiters;
    private final HeldBackCalls heldBack;
    private final Ledger ledger;
    private final ClaimPlan plan;
    private final OutageCalls outageCalls;
    private Policy policy;

    Rejections(
            Policy policy,
            WaiterQueue waiters,
            HeldBackCalls heldBack,
            Ledger ledger,
            ClaimPlan plan,
            OutageCalls outageCalls) {
        this.policy = policy;
        this.waiters = waiters;
        this.heldBack = heldBack;
        this.ledger = ledger;
        this.plan = plan;
        this.outageCalls = outageCalls;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** Why the arriving call is rejected; {@code null} if it is not. As long as it is unknown whether its name is paused, it is not. */
    @Nullable
    Reason atArrival(Waiter arriving, PauseState pause, Admission admission, long now) {
        if (admission == Admission.NONE) {
            return Reason.SHUTTING_DOWN;
        }
        if (pause == PauseState.PAUSED) {
            return whilePaused(arriving, admission);
        }
        if (pause == PauseState.NONE && isFull(arriving)) {
            return Reason.QUEUE_FULL;
        }
        return pause == PauseState.NONE && isHopeless(arriving, now) ? Reason.WOULD_TIME_OUT : null;
    }

    /** A call whose name is paused waits as for a key that is paused. */
    private @Nullable Reason whilePaused(Waiter arriving, Admission admission) {
        if (admission != Admission.ALL) {
            return Reason.SHUTTING_DOWN;
        }
        if (!arriving.mayWait) {
            return Reason.LIMIT_REACHED;
        }
        int waiting = waiters.size() + heldBack.size();
        return waiting >= arriving.permit.policy().maxWaiting() ? Reason.QUEUE_FULL : null;
    }

    /**
     * Whether as many calls have to wait as may. A call on its way to the store does not wait: its permit may be free. It has to wait
     * if an answer has shown so, if claims fail, or if there are more such calls than permits.
     */
    private boolean isFull(Waiter arriving) {
        int most = arriving.permit.policy().maxWaiting();
        int moreThanMayWait = waiters.size() - most;
        if (moreThanMayWait < 0) {
            return false;
        }
        return waiters.provenWaiting() >= most
                || plan.backoff.isFailing()
                || moreThanMayWait >= plan.highestLimit(arriving, ledger) - ledger.inUse();
    }

    /**
     * Whether the settings want such calls rejected, and its time-out will surely pass before its turn. While the store fails that is a
     * matter of the store.
     */
    private boolean isHopeless(Waiter arriving, long now) {
        long left = Math.max(0, arriving.deadline - now);
        return arriving.permit.policy().rejectHopeless()
                && arriving.mayWait
                && waiters.pace.least(waiters.weight(), now) > left // saves most calls from a look at each one
                && !plan.backoff.isFailing()
                && !outageCalls.isOn()
                && waiters.pace.least(waiters.ahead(arriving, isNoneFree(arriving), now), now) > left;
    }

    private boolean isNoneFree(Waiter arriving) {
        return ledger.inUse() >= plan.highestLimit(arriving, ledger);
    }

    /**
     * Rejects calls that ask for more permits than the limit in effect. A call is rejected only by the answer to a
     * claim that was sent after it arrived, because the limit of an older answer may be outdated. A limit of 0 pauses
     * the key and rejects no call.
     */
    void rejectTooHeavy(Effects effects) {
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
    void rejectTries(Effects effects) {
        if (waiters.hasTries()) {
            Waiter head = waiters.head();
            Outcome end = ledger.isInGrace() ? Failed.inGrace(policy) : new Refused(Reason.LIMIT_REACHED);
            waiters.end(w -> !w.mayWait && waiters.isAnswered(w, head), end, effects);
            Outcome closing = new Refused(Reason.SHUTTING_DOWN);
            waiters.end(w -> w.isTry && waiters.isAnswered(w, head), closing, effects);
        }
    }
}
