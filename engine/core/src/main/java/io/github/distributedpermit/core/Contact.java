package io.github.distributedpermit.core;

import io.github.distributedpermit.core.Outcome.Failed;
import io.github.distributedpermit.spi.PermitStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The answers and failures of one key's claims, and the calls that end because of them. A call waits for a store that does
 * not answer for the store time-out at most; once all claims of the member have been without an answer for that long,
 * further calls fail at once until one is answered. Guarded by the lock of the line.
 */
final class Contact {

    private static final long NEVER = LineState.NEVER;

    private final LineHost host;
    private final WaiterQueue waiters;
    private final Ledger ledger;
    private final ClaimPlan plan;
    private final Outage outage;
    private Policy policy;

    private long answeredAt = -1;

    Contact(Policy policy, LineHost host, WaiterQueue waiters, Ledger ledger, ClaimPlan plan) {
        this.policy = policy;
        this.host = host;
        this.waiters = waiters;
        this.ledger = ledger;
        this.plan = plan;
        this.outage = new Outage(policy.commandTimeout());
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** The process stood still for so long: answers that came meanwhile are still to be read. */
    void stoodStill(long length, long now) {
        plan.sent.restart(now);
        outage.skip(length, now);
        host.contact().stoodStill(length, now);
    }

    /** Time has passed: claims may have been unanswered, and calls waiting, for too long. */
    void lookAtTheClock(long now, boolean leases, Effects effects) {
        SentClaim late = plan.sent.oldestInFlight();
        while (late != null && late.isOverdue(now, policy)) {
            effects.run(late::cancel);
            failed(late.sequence, unanswered(), now, effects);
            late = plan.sent.oldestInFlight();
        }
        // a store with sessions forgets nothing while the session lives
        if (leases && plan.sent.forgetUntil(now - policy.lease())) {
            plan.askAgain();
        }
        if (!waiters.isEmpty() && outage.length(now) >= policy.storeTimeout()) {
            waiters.end(waiter -> true, new Failed(cause()), effects);
        }
    }

    /** When calls will have waited for an answer for too long; {@link LineState#NEVER} if the store answers. */
    long hopelessAt() {
        return waiters.isEmpty() ? NEVER : outage.reaches(policy.storeTimeout());
    }

    /** A claim was sent. */
    void sent(long now) {
        outage.attempted(now);
        host.contact().outage.attempted(now);
    }

    /** An answer has come, to whichever claim. */
    void landed(long sequence, long now, Effects effects) {
        if (now >= host.aliveUntil()) {
            // it may not be relied on, and the next one neither: as good as a store that is away
            failed(sequence, unconfirmedSession(), now, effects);
            return;
        }
        SentClaim claim = plan.sent.find(sequence);
        if (claim != null) {
            host.contact().answered(claim.age(now), now);
        } else {
            host.contact().outage.answered(now); // late, but an answer
        }
        plan.sent.landed(sequence);
        plan.backoff.answered();
        outage.answered(now);
        answeredAt = now;
    }

    /** A claim has failed, or will not be answered any more. */
    void failed(long sequence, Throwable cause, long now, Effects effects) {
        SentClaim claim = plan.sent.find(sequence);
        if (claim == null || !plan.sent.landed(sequence)) {
            return;
        }
        if (sequence <= ledger.appliedSequence()) {
            plan.sent.confirmed(ledger.appliedSequence());
            return;
        }
        StoreContact store = host.contact();
        boolean known = store.outage.isKnown(policy.storeTimeout(), now);
        boolean permanent = cause instanceof PermitStoreException failure && failure.isPermanent();
        if (permanent) {
            // the store answers, though it refuses this key or all of them
            store.outage.answered(now);
        } else {
            store.outage.failed(cause, claim.at, now);
        }
        outage.failed(cause, claim.at, now);
        plan.failed(now, host.jitter());
        if (permanent || known) {
            waiters.end(waiter -> true, new Failed(cause), effects);
        } else if (waiters.hasTries()) {
            waiters.end(waiter -> !waiter.queueing && waiter.wasClaimedBy(sequence), new Failed(cause), effects);
        }
    }

    /**
     * Why a call that comes now need not wait; {@code null} if it may. What is known gets out of date when nothing is sent
     * for a while, so the call then has a claim sent.
     */
    @Nullable
    Throwable away(long now) {
        long bound = policy.storeTimeout();
        Outage known = outage.isKnown(bound, now) ? outage : host.contact().outage;
        Throwable last = known.failure();
        if (last == null || !known.isKnown(bound, now)) {
            return null;
        }
        if (known == outage || host.contact().mayProbe(now)) {
            plan.askAgain();
        }
        return PermitStoreException.passing(
                "%s; nothing was answered for %d ms, so calls fail at once until the store answers again"
                        .formatted(last.getMessage(), known.length(now) / 1_000_000),
                last.getCause());
    }

    /**
     * Why the time-out of a call is the store's doing; {@code null} if the store answers and has had no permit for it. An
     * answer that is on its way for no longer than usual says nothing against the store: then the time-out was short.
     */
    private @Nullable Throwable failureAtTimeout(Waiter waiter, long now) {
        SentClaim oldest = plan.sent.oldestInFlight();
        if (plan.backoff.isFailing() || (oldest != null && oldest.isOverdue(now, policy))) {
            return cause();
        }
        if (answeredAt >= waiter.arrival || waiter.wasClaimedBy(ledger.appliedSequence())) {
            return null;
        }
        StoreContact store = host.contact();
        long silent = Math.max(oldest == null ? 0 : oldest.age(now), store.outage.length(now));
        if (store.isUsual(silent)) {
            return null;
        }
        return oldest == null && silent == 0
                ? null
                : PermitStoreException.passing("no answer within " + silent / 1_000_000 + " ms", null);
    }

    /**
     * Until when a call that does not wait has a right to its answer although its time is over: the process stood still, or
     * the claim was written late. 0 if it has none.
     */
    long extendedTime(Waiter waiter, long now) {
        if (waiter.queueing) {
            return 0;
        }
        SentClaim oldest = plan.sent.oldestInFlight();
        long written = oldest != null && oldest.isDelayed() ? oldest.overdueAt(policy) : 0;
        long resumed = host.contact().resumedAt();
        long answered = resumed > waiter.arrival ? resumed + policy.commandTimeout() : 0;
        long until = Math.min(Math.max(written, answered), outage.reaches(policy.storeTimeout()));
        return until > now ? until : 0;
    }

    /** Whether the last claim was answered with a refusal that a repetition does not change. */
    boolean isRefused() {
        return outage.failure() instanceof PermitStoreException failure && failure.isPermanent();
    }

    private Throwable cause() {
        Throwable known = outage.failure();
        return known != null ? known : unanswered();
    }

    /** How a call's wait ends at its own time-out. */
    Outcome atTimeout(Waiter waiter, long now) {
        Throwable failure = failureAtTimeout(waiter, now);
        if (failure == null && !waiter.queueing) {
            failure = unanswered();
        }
        return failure != null ? new Failed(failure) : Outcome.Refused.TIMED_OUT;
    }

    private PermitStoreException unanswered() {
        return PermitStoreException.passing(
                "no answer within the command time-out of " + policy.commandTimeout() / 1_000_000 + " ms", null);
    }

    private static PermitStoreException unconfirmedSession() {
        return PermitStoreException.passing("the session of this member has not been confirmed in time", null);
    }
}
