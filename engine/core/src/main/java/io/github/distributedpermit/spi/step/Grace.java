package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.OptionalLong;

/**
 * Bounds the grants of one key after its store has lost state. The <em>epoch</em> is the number under which the records were written;
 * it changes when the store may have lost state. Then a <em>grace</em> begins: until it ends, members get back what they validly
 * hold, and a grant leads to no more permits in use than came back. So every permit that a member may still hold stays free for it.
 *
 * <p>A store with sessions finds out by itself whether it has lost state; Redis does so with the rules of lineage.lua. Not
 * thread-safe. The {@link KeyTable} of each key has one and calls it in every operation.
 */
public class Grace {

    /** The epoch that the records of the key belong to; 0 if they were written without one. */
    long epoch;
    /** Whether the key is in grace. */
    boolean active;
    /** When the grace ends, in the numbers that the table counts its versions in. */
    long end;
    /** How many permits came back since the grace began, also those that were returned again. */
    int pool;

    /** Without a grace, and with records that were written without an epoch. */
    Grace() {}

    /**
     * Of a key in a store with sessions: the records are those of this epoch.
     *
     * @param epoch of the store, see {@link io.github.distributedpermit.spi.Holding#epoch}
     * @param end when the grace ends, in the numbers that the table counts its versions in; empty if there is none
     * @param pool how many permits came back in this epoch
     */
    public static Grace ofSessions(long epoch, OptionalLong end, int pool) {
        Grace grace = new Grace();
        grace.epoch = epoch;
        grace.active = end.isPresent();
        grace.end = end.orElse(0);
        grace.pool = pool;
        return grace;
    }

    final int pool() {
        return pool;
    }

    final long epoch() {
        return epoch;
    }

    final boolean isActive() {
        return active;
    }

    final long end() {
        return end;
    }

    void expire(long now) {
        if (active && now >= end) {
            active = false;
        }
    }

    /**
     * How many permits the member gets back. The epoch of the claim has to be the present one: it shows that the member has
     * received an answer after the loss, so that the claim states what the member holds since.
     */
    final int reclaimable(Claim claim) {
        return active && claim.reclaim().knownEpoch() == epoch ? claim.reclaim().validlyHeld() : 0;
    }

    /**
     * Counts permits that came back; called for each claim that changes the key. The grace does not end when they are as many as the
     * limit, because a member that states a higher limit may hold more.
     */
    void readmit(int permits) {
        pool += active ? permits : 0;
    }

    /** An operator has taken permits from a member, which may reclaim them before it is notified: they must not count twice. */
    final void evicted(int permits) {
        pool = Math.max(0, pool - permits);
    }

    /** Whether the grace may keep free permits from being granted. */
    final boolean withholds(int limit) {
        return active && pool < limit;
    }

    /**
     * The most permits in use that a grant may lead to. Outside the grace this is the limit itself, so that the step
     * needs no other case.
     */
    int cap(int limit) {
        return active ? Math.min(limit, pool) : limit;
    }
}
