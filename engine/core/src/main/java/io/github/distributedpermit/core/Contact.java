package io.github.distributedpermit.core;

import io.github.distributedpermit.core.Outcome.Failed;
import io.github.distributedpermit.spi.PermitStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What a line hears of its store, or does not: claims that are answered, fail or stay unanswered, and calls that end because
 * of it. Guarded by the lock of the line.
 */
final class Contact {

    private final LineHost host;
    private final WaiterQueue waiters;
    private final Ledger ledger;
    private final ClaimPlan plan;
    private Policy policy;

    private long confirmedAt;
    private @Nullable Throwable lastFailure;

    Contact(Policy policy, LineHost host, WaiterQueue waiters, Ledger ledger, ClaimPlan plan) {
        this.policy = policy;
        this.host = host;
        this.waiters = waiters;
        this.ledger = ledger;
        this.plan = plan;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** Time has passed: claims may have been unanswered, and calls waiting, for too long. */
    void lookAtTheClock(long now, boolean leases, Effects effects) {
        SentClaim late = plan.sent.oldestInFlight();
        while (late != null && late.at + policy.commandTimeout() <= now) {
            effects.run(late::cancel);
            failed(late.sequence, unanswered(), now, effects);
            late = plan.sent.oldestInFlight();
        }
        if (leases) {
            // a store with sessions forgets nothing while the session lives
            plan.sent.forgetUntil(now - policy.lease());
        }
        failHopeless(now, effects);
    }

    /** A call without a time-out of its own waits for a store that is away no longer than a lease. */
    private void failHopeless(long now, Effects effects) {
        if (!plan.backoff.isFailing() || lastFailure == null || waiters.isEmpty()) {
            return;
        }
        long hopeless = now - policy.lease();
        if (confirmedAt <= hopeless && waiters.firstUntimedArrival() <= hopeless) {
            waiters.end(waiter -> !waiter.timed && waiter.arrival <= hopeless, new Failed(lastFailure), effects);
        }
    }

    /** When the first of such calls will have waited for too long; {@link LineState#NEVER} if the store answers. */
    long hopelessAt() {
        long arrival = plan.backoff.isFailing() ? waiters.firstUntimedArrival() : LineState.NEVER;
        return arrival == LineState.NEVER ? arrival : Math.max(arrival, confirmedAt) + policy.lease();
    }

    /** An answer has come, to whichever claim. */
    void landed(long sequence, long now, Effects effects) {
        if (now >= host.aliveUntil()) {
            // it may not be relied on, and the next one neither: as good as a store that is away
            failed(sequence, unconfirmedSession(), now, effects);
            return;
        }
        plan.sent.landed(sequence);
        plan.backoff.answered();
        confirmedAt = now;
    }

    /** A claim has failed, or will not be answered any more. */
    void failed(long sequence, Throwable cause, long now, Effects effects) {
        if (!plan.sent.landed(sequence)) {
            return;
        }
        if (sequence <= ledger.appliedSequence()) {
            plan.sent.confirmed(ledger.appliedSequence());
            return;
        }
        lastFailure = cause;
        plan.failed(now, host.jitter());
        if (cause instanceof PermitStoreException failure && failure.isPermanent()) {
            waiters.end(waiter -> true, new Failed(cause), effects);
        } else if (waiters.hasTries()) {
            waiters.end(waiter -> !waiter.queueing && waiter.firstClaim == sequence, new Failed(cause), effects);
        }
    }

    /** Why nothing is heard of the store; {@code null} if it answers. */
    @Nullable
    Throwable failure(long now) {
        if (plan.backoff.isFailing()) {
            return lastFailure;
        }
        SentClaim oldest = plan.sent.oldestInFlight();
        return oldest != null && oldest.at + policy.commandTimeout() <= now ? unanswered() : null;
    }

    PermitStoreException unanswered() {
        return PermitStoreException.passing(
                "no answer within the command time-out of " + policy.commandTimeout() / 1_000_000 + " ms", null);
    }

    private static PermitStoreException unconfirmedSession() {
        return PermitStoreException.passing("the session of this member has not been confirmed in time", null);
    }
}
