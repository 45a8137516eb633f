package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * The two events after which there is nothing to settle: a call takes a permit that lies idle here while nobody waits, and
 * gives it back to lie here again. Neither makes a claim due, and the timer is set for whatever falls due by itself; a call
 * for which that is not certain goes the long way. Guarded by the lock of the line.
 */
final class Shortcut {

    private final KeyLine line;
    private final LineState state;
    private final LineTimer timer;

    Shortcut(KeyLine line, LineState state, LineTimer timer) {
        this.line = line;
        this.state = state;
        this.timer = timer;
    }

    /** An idle permit; {@code null} if the call has to enter. The first after each claim has to, see {@link ClaimPlan}. */
    @Nullable
    Grant take(NameUse use, int weight, long now) {
        Ledger ledger = state.ledger;
        if (weight > ledger.idle()
                || !state.waiters.isEmpty()
                || !state.plan.hasPassedOn()
                || now >= state.validUntil()) {
            return null;
        }
        Grant grant = ledger.grant(line, use, weight, now);
        try {
            state.usedBy(use);
            if (ledger.idle() == weight) {
                state.lingering.end();
            }
            ledger.hold(grant);
        } catch (Throwable e) {
            grant.ended = true; // nobody will have it: the next event takes it back
            throw e;
        }
        return grant;
    }

    /** {@code false} if the return has to be settled. */
    boolean giveBack(Grant grant) {
        if (!grant.counted || !state.mayBeIdle()) {
            return false;
        }
        state.lingering.beginAfter(grant);
        long until = state.lingering.until();
        if (until == LineState.NEVER || !timer.firesBy(until)) {
            return false;
        }
        return state.ledger.letGo(grant);
    }
}
