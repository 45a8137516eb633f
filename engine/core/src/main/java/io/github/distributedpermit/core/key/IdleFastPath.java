package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * The fast path for idle permits: a call takes a permit that is idle in this process while no call waits, and returns it to
 * be idle again. After these two events there is nothing to settle, because neither makes a claim due and the timer is
 * already set for whatever falls due by itself. A call for which that is not certain takes the ordinary path.
 *
 * <p>Guarded by the lock of the {@link KeyQueue}. It allocates nothing but the grant.
 */
final class IdleFastPath {

    private final Grant.Owner owner;
    private final KeyQueueState state;
    private final KeyQueueTimer timer;

    IdleFastPath(Grant.Owner owner, KeyQueueState state, KeyQueueTimer timer) {
        this.owner = owner;
        this.state = state;
        this.timer = timer;
    }

    /**
     * Takes an idle permit; {@code null} if the call has to enter the queue. The first call after each claim has to, so that
     * {@link ClaimPlan#passedOn} sets the timer for the next claim.
     */
    @Nullable
    Grant take(PermitName permit, int weight, long now) {
        Ledger ledger = state.ledger;
        if (weight > ledger.idle()
                || !state.waiters.isEmpty()
                || !state.plan.hasPassedOn()
                || now >= state.validUntil()) {
            return null;
        }
        Grant grant = ledger.grant(owner, permit, weight, now);
        try {
            state.users.arrived(permit);
            if (ledger.idle() == weight) {
                state.lingering.end();
            }
            ledger.hold(grant);
            state.waiters.groups.countWithoutGroup(grant);
        } catch (Throwable e) {
            // the call does not get it: the repair of the queue takes it back
            grant.ended = true;
            throw e;
        }
        return grant;
    }

    /** Returns the permit to be idle here; {@code false} if the return has to be settled. */
    boolean giveBack(Grant grant) {
        if (!grant.counted || !state.mayBeIdle()) {
            return false;
        }
        state.lingering.beginAfter(grant);
        long until = state.lingering.until();
        if (until == Times.NEVER || !timer.firesBy(until)) {
            return false;
        }
        return state.ledger.letGo(grant);
    }
}
