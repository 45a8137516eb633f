package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.StackRoom;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The grants of one key that are in use, in the order in which they were granted. Guarded by the lock of the
 * {@link KeyQueue}. Links and counts change together, without a method call in between, so that not even a stack overflow
 * can leave them inconsistent.
 */
final class Holders {

    private @Nullable Grant newest;
    private int inUse;

    /** The grants whose calls had not ended when they were lost, but none that nothing refers to any more. */
    private Set<Grant> lost = Set.of();

    /** The grant is in use from now on. */
    void add(Grant grant) {
        grant.previous = newest;
        if (newest != null) {
            newest.next = grant;
        }
        newest = grant;
        grant.counted = true;
        inUse += grant.weight;
        if (grant.group != null) {
            grant.group.inUse += grant.weight;
        }
    }

    /** Removes a grant; {@code false} if it was removed before. */
    boolean remove(Grant grant) {
        if (!grant.counted) {
            return false;
        }
        Grant before = grant.previous;
        Grant after = grant.next;
        if (before != null) {
            before.next = after;
        }
        if (after == null) {
            newest = before;
        } else {
            after.previous = before;
        }
        grant.previous = null;
        grant.next = null;
        grant.counted = false;
        inUse -= grant.weight;
        FairGroup<?> group = grant.group;
        if (group != null) {
            group.inUse -= grant.weight;
            group.dropIfUnused();
        }
        return true;
    }

    /**
     * Takes permits away from calls until no more than this many are in use. The newest grants lose theirs, because the
     * oldest calls are the nearest to their end.
     */
    void loseDownTo(int permits, LossCause cause, Effects effects) {
        while (inUse > permits && newest != null) {
            lose(newest, cause, effects);
        }
    }

    /** Takes its permits away from a call that holds them. */
    void lose(Grant grant, LossCause cause, Effects effects) {
        StackRoom.check(); // an error within the set could lose others from it
        // the notification is collected first: if an error strikes below, the call still learns of the loss
        effects.lost(grant);
        grant.ungauge();
        if (lost.isEmpty()) {
            lost = Collections.newSetFromMap(new WeakHashMap<>());
        }
        lost.add(grant);
        grant.markLost(cause);
        remove(grant);
    }

    /** The grant of the call with this number, see {@link Caller#call}; {@code null} if it holds none. */
    @Nullable
    Grant find(long call) {
        Grant grant = newest;
        while (grant != null && (grant.caller == null || grant.caller.call() != call)) {
            grant = grant.previous;
        }
        return grant;
    }

    /** A call has ended; {@code false} unless its permit was lost before. */
    boolean endLost(Grant grant) {
        return !lost.isEmpty() && lost.remove(grant);
    }

    /** How many permits were lost whose calls have not ended. */
    int lostInUse() {
        int permits = 0;
        for (Grant grant : lost) {
            permits += grant.ended ? 0 : grant.weight;
        }
        return permits;
    }

    /** After an error: removes the grants whose calls have ended, and counts all others in the gauge as well. */
    void mend() {
        Grant grant = newest;
        while (grant != null) {
            Grant before = grant.previous;
            if (grant.ended) {
                grant.ungauge();
                remove(grant);
            } else {
                grant.gauge();
            }
            grant = before;
        }
    }

    /** The grant that has been in use for the longest; {@code null} if none is. */
    @Nullable
    Grant oldest() {
        Grant grant = newest;
        while (grant != null && grant.previous != null) {
            grant = grant.previous;
        }
        return grant;
    }

    /** The grant that was added last; the others are linked to it. */
    @Nullable
    Grant newest() {
        return newest;
    }

    /** Adds the calls that hold permits, the oldest first, until the list has so many. */
    void describe(long now, int most, List<CallView> views) {
        for (Grant g = oldest(); g != null && views.size() < most; g = g.next) {
            views.add(g.view(CallView.State.HOLDING, g.grantedAt, now));
        }
    }

    /** How many permits are in use. */
    int inUse() {
        return inUse;
    }
}
