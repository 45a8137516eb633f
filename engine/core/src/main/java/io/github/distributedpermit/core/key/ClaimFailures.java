package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.key.Outcome.Failed;
import io.github.distributedpermit.core.store.Outage;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.PermitStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Follows the answers and failures of one key's claims, and ends the calls that have to fail because of them. If the
 * store does not answer, a call waits for it for the store time-out at most. Once no claim of the member has been
 * answered for that long ({@link StoreWatch}), further calls fail at once until one is answered, or none has been seen to fail
 * for a while. Guarded by the lock of the {@link KeyQueue}.
 */
final class ClaimFailures {

    private final KeyQueueHost host;
    private final WaiterQueue waiters;
    private final Ledger ledger;
    private final ClaimPlan plan;
    private final OutageCalls outageCalls;
    private final Outage outage;
    private Policy policy;

    ClaimFailures(
            Policy policy,
            KeyQueueHost host,
            WaiterQueue waiters,
            Ledger ledger,
            ClaimPlan plan,
            OutageCalls outageCalls) {
        this.policy = policy;
        this.host = host;
        this.waiters = waiters;
        this.ledger = ledger;
        this.plan = plan;
        this.outageCalls = outageCalls;
        this.outage = new Outage(policy.commandTimeout());
    }

    /** Applies other settings. */
    void adopt(Policy settings) {
        policy = settings;
    }

    /** Whether the process stood still, since something happens so many nanoseconds after it was due. */
    boolean isStandstill(long late) {
        return policy.isStandstill(late);
    }

    /**
     * The process stood still: time-outs are extended, since received answers are not read yet.
     *
     * @param length for how long, without what was known before
     */
    void stoodStill(long length, long from, long now) {
        plan.sent.restart(now);
        outage.skip(length, now);
        host.watch().stoodStill(from, now);
    }

    /** Fails claims that are overdue, and calls that have waited for the store for a store time-out. */
    void lookAtTheClock(long now, boolean leases, Effects effects) {
        SentClaim oldest = plan.sent.oldestInFlight();
        if (oldest != null && host.watch().resumedAt() > oldest.at) {
            plan.sent.restart(host.watch().resumedAt());
        }
        if (oldest != null && now >= oldest.overdueAt(policy)) {
            plan.sent.receiveAgain(effects); // an error may have struck before the event of the answer began
        }
        while (oldest != null && oldest.isOverdue(now, policy)) {
            effects.execute(oldest::cancel);
            failed(oldest.sequence, null, now, effects);
            oldest = plan.sent.oldestInFlight();
        }
        if (oldest != null && oldest.isDelayed()) {
            outage.awaited(now);
            host.watch().outage().awaited(now);
            if (oldest.isUnwritten()) {
                host.watch().outage().seen(now);
            }
        }
        // a store with sessions keeps the records until the session ends
        if (leases && plan.sent.forgetUntil(now - policy.lease(), effects)) {
            plan.askAgain();
        }
        if (waitsForStore() && outage.length(now) >= policy.storeTimeout()) {
            host.watch().outage().seen(now);
            endWithoutStore(cause(), now, effects);
        }
    }

    /** Whether calls wait that the store has to serve. Those that run already do not fail, however long it takes. */
    private boolean waitsForStore() {
        return outageCalls.isOn() ? !waiters.allMayRunWithoutStore() : waiters.size() > 0;
    }

    /** Whether its call waits; otherwise the call runs since an outage, and goes on asking the store for its permit. */
    private static boolean waits(Waiter waiter) {
        return !(waiter instanceof OutageCall.Adoption);
    }

    /** The store has not answered for the store time-out: ends the calls that do not run without it. */
    private void endWithoutStore(Throwable cause, long now, Effects effects) {
        if (waiters.anyMayRunWithoutStore() && outageCalls.enter(now, effects)) {
            waiters.end(waiter -> !outageCalls.serves(waiter), new Failed(cause), effects);
        } else if (waiters.anyMayRunWithoutStore() && mayRunSoon(now)) {
            waiters.end(waiter -> waiter.needsStore() && waits(waiter), new Failed(cause), effects);
        } else {
            waiters.end(ClaimFailures::waits, new Failed(cause), effects);
        }
    }

    /**
     * Whether calls will probably run without the store: its last answer, which was one for another key, is only a little
     * younger than that for this key. If it goes on answering other keys, calls of this one wait twice the time at most.
     */
    private boolean mayRunSoon(long now) {
        StoreWatch store = host.watch();
        long bound = policy.storeTimeout();
        // The second, because with a command time-out as long as the store time-out the silence shows too late.
        boolean silent = store.isSilent(now) || store.outage().length(now) >= bound / 2;
        return silent && outage.length(now) < 2 * bound;
    }

    /** When the waiting calls reach the store time-out; {@link Times#NEVER} if none waits or the store answers. */
    long hopelessAt() {
        if (!waitsForStore()) {
            return Times.NEVER;
        }
        long bound = policy.storeTimeout();
        return waiters.allMayRunWithoutStore()
                ? Math.min(
                        Math.max(outage.reaches(bound), host.watch().outage().reaches(bound)),
                        outage.reaches(2 * bound))
                : outage.reaches(bound);
    }

    /** The store is used again: what the claims of this key have shown before says nothing about it any more. */
    void storeIsBack(long now) {
        outage.answered(now);
        plan.backoff.lift();
    }

    /** A claim was sent. */
    void sent(long now) {
        outage.attempted(now);
        host.watch().asked(now);
    }

    /** A claim was answered, even if it had timed out here before. */
    void landed(long sequence, long now, Effects effects) {
        if (now >= host.aliveUntil()) {
            // permits are valid only while the session is confirmed, so this claim counts as failed
            failed(sequence, unconfirmedSession(), now, effects);
            return;
        }
        SentClaim claim = plan.sent.find(sequence);
        if (claim != null && claim.inFlight) {
            effects.claimed(true, now - claim.at);
            plan.answerTime.took(now - claim.at);
            if (!claim.isDelayed()) {
                host.watch().took(now - claim.at, now, effects);
            }
        }
        host.watch().answered(now, effects);
        plan.sent.landed(sequence);
        plan.backoff.answered();
        outage.answered(now);
    }

    /**
     * A claim has failed, or is not waited for any more.
     *
     * @param cause {@code null} if it was not answered in time
     */
    void failed(long sequence, @Nullable Throwable cause, long now, Effects effects) {
        SentClaim claim = plan.sent.find(sequence);
        if (claim == null || !plan.sent.landed(sequence)) {
            return;
        }
        if (sequence <= ledger.appliedSequence()) {
            plan.sent.confirmed(ledger.appliedSequence());
            return;
        }
        boolean known = host.watch().outage().isKnown(policy.storeTimeout(), now);
        boolean permanent = cause instanceof PermitStoreException failure && failure.isPermanent();
        long asked = Math.max(claim.at, host.watch().resumedAt()); // the process could not receive the answer before
        host.watch().failed(cause, asked, now, effects);
        if (cause == null) {
            host.watch().timedOut(now - asked, now, effects);
        }
        effects.claimed(false, now - claim.at);
        outage.failed(cause, asked, now);
        plan.failed(now, host.jitter());
        if (permanent) {
            waiters.end(ClaimFailures::waits, new Failed(cause()), effects);
        } else if (known) {
            endWithoutStore(cause(), now, effects);
        } else if (waiters.hasTries()) {
            waiters.end(waiter -> !waiter.mayWait && waiter.wasClaimedBy(sequence), new Failed(cause()), effects);
        }
    }

    /** A call that was not served can only wait for the store. It fails at once if the store is known not to answer. */
    void failIfAway(Waiter waiter, long now, Effects effects) {
        Throwable away = away(now);
        if (away != null && (waiter.needsStore() || !waiter.mayWait || !mayRunSoon(now))) {
            waiters.remove(waiter);
            waiter.end(new Failed(away), effects);
        }
    }

    /**
     * Why a call that arrives now fails at once; {@code null} if it may wait. An outage is known only while claims are
     * sent and fail. So a call that fails at once also requests a claim, for its key or to find out about the store.
     */
    private @Nullable Throwable away(long now) {
        long bound = policy.storeTimeout();
        Outage known = outage.isKnown(bound, now) ? outage : host.watch().outage();
        if (!known.isKnown(bound, now)) {
            return null;
        }
        Throwable last = known.failure() == null ? host.watch().unanswered() : known.failure();
        if (known == outage || host.watch().mayTryAgain(now)) {
            plan.askAgain();
        }
        return PermitStoreException.passing(
                "%s; nothing was answered for %d ms, so calls fail at once until the store answers again"
                        .formatted(last.getMessage(), known.length(now) / 1_000_000),
                last.getCause());
    }

    /**
     * Why the store is the cause of a call's time-out; {@code null} if it answers and had no permit for the call, or if the time-out
     * was too short to find out. The store is the cause if it or its client has reported a failure of the last claim, or if it is
     * silent. A claim of this key without an answer is no cause while other claims are answered.
     */
    private @Nullable Throwable failureAtTimeout(Waiter waiter, long now) {
        if (outageCalls.serves(waiter)) {
            return null;
        }
        if (outage.failure() != null || host.watch().isSilent(now)) {
            return cause();
        }
        return ledger.isInGrace() ? Failed.inGrace(policy).cause() : null;
    }

    /**
     * Until when a call that does not wait for a permit may wait for the store's answer although its time-out has
     * passed, because the process stood still or the claim was written with a delay. 0 if it may not.
     */
    long extendedTime(Waiter waiter, long now) {
        if (waiter.mayWait) {
            return 0;
        }
        SentClaim oldest = plan.sent.oldestInFlight();
        long delayed =
                oldest != null && !oldest.isOverdue(now, policy) && oldest.isDelayed() ? oldest.overdueAt(policy) : 0;
        long resumed = host.watch().resumedAt();
        long answered = resumed > waiter.arrival ? resumed + policy.commandTimeout() : 0;
        long until = Math.min(Math.max(delayed, answered), outage.reaches(policy.storeTimeout()));
        return until > now ? until : 0;
    }

    /** Whether the store has refused the last claim permanently, so that a repetition changes nothing. */
    boolean isRefused() {
        return outage.failure() instanceof PermitStoreException failure && failure.isPermanent();
    }

    private Throwable cause() {
        Throwable known = outage.failure();
        return known != null ? known : host.watch().unanswered();
    }

    /** The outcome of a call whose own time-out has passed. */
    Outcome atTimeout(Waiter waiter, long now) {
        Throwable failure = failureAtTimeout(waiter, now);
        if (failure == null && !waiter.mayWait) {
            failure = host.watch().unanswered();
        }
        return failure != null ? new Failed(failure) : Outcome.Refused.TIMED_OUT;
    }

    private static PermitStoreException unconfirmedSession() {
        return PermitStoreException.passing("the session of this member has not been confirmed in time", null);
    }
}
