package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Decides for one key whether its records were lost, and bounds the grants after a loss. The <em>epoch</em> is the number of the
 * server that has written the records; it changes when the server may have lost state. If the records belong to an epoch whose
 * data is not complete here, they are void, and a <em>grace</em> begins: until it ends, members get back what they validly hold,
 * and a grant leads to no more permits in use than came back. So every permit that a member may still hold stays free for it.
 *
 * <p>Times are microseconds of the server's clock. Not thread-safe. The {@link KeyTable} of each key has one and calls it in
 * every operation; {@link Lineage} says which data is complete. It has the same rules as lineage.lua and claim.lua, so that
 * tests can compare both forms (docs/decisions/0013-three-forms-of-the-step.md).
 */
public final class Grace {

    /** Whether the key exists on the server. A key that does not may be new or may have been lost. */
    private boolean stored;
    /** The epoch that the records of the key belong to; 0 if they were written without one. */
    private long epoch;
    /** When the server was last compared with the data, see {@link #check}. */
    private long checked;

    /** Whether the key is in grace. */
    private boolean active;
    /** When the grace began. It ends one lease later: the longest that members have stated, also meanwhile. */
    private long start;
    /** Whether the grace lasts for a lease. The grace of a new server has a fixed end instead. */
    private boolean extensible;
    /** When the grace ends, on the clock of the server. */
    private long end;
    /** How many permits came back since the grace began, also those that were returned again. */
    private int pool;

    /** Of a key that does not exist yet. */
    Grace() {}

    /**
     * Of a key in a store with sessions, which finds out by itself whether it has lost state: the records are those of this
     * epoch.
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

    int pool() {
        return pool;
    }

    long epoch() {
        return epoch;
    }

    boolean isActive() {
        return active;
    }

    long end() {
        return end;
    }

    /**
     * Whether the server has to be compared with the data before this claim. Each claim that may lead to a grant needs a check of
     * its own: the time of an earlier one may have been written by another server, on another clock. A claim that can lead to no
     * grant needs none, unless it shows by itself that data may be missing: by another epoch, or by permits that the member
     * validly holds and the server has not recorded.
     *
     * @param recorded how many permits are recorded for the member
     * @param queued whether any member waits
     */
    boolean isDue(Claim claim, int recorded, boolean queued, Lineage lineage, long now) {
        boolean foreign = claim.epoch() != 0 && claim.epoch() != epoch;
        if (!stored
                || claim.checksEpoch()
                || foreign
                || lineage.epoch() != epoch
                || lineage.closed() == epoch
                || lineage.isAheadOf(now)) {
            return true;
        }
        if ((claim.validlyHeld() > recorded && !active) || wentOnBeforeALoss(lineage)) {
            return true;
        }
        return claim.wanted() > claim.validlyHeld() || queued;
    }

    /**
     * Compares the server with the one that has written the data, and begins a grace if some of it may be missing.
     *
     * @param knownLease see {@link Lineage#check}
     * @return whether the records of the key are void
     */
    boolean check(ServerIdentity server, Lineage lineage, Claim claim, long knownLease, long now) {
        boolean missed = lineage.check(server, claim.epoch(), knownLease, now);
        boolean lost = isLost(lineage);
        if (lost) {
            begin(lineage, claim, now);
        } else if ((missed || wentOnBeforeALoss(lineage)) && lineage.graceEnd() > now) {
            startAt(lineage.since(), true, lineage.graceEnd());
        }
        stored = true;
        epoch = lineage.epoch();
        checked = now;
        return lost;
    }

    /**
     * Whether the key was served because the server seemed to be new, and then a claim of another key has shown that the server
     * had lost its data. The records of this key are valid, but a grace is due for it.
     */
    private boolean wentOnBeforeALoss(Lineage lineage) {
        boolean knows = active && start == lineage.since();
        return epoch != 0 && checked < lineage.since() && !lineage.isVirgin() && !knows;
    }

    /**
     * The records are void if the key does not exist, or was written under an epoch whose data is not complete on
     * this server.
     */
    private boolean isLost(Lineage lineage) {
        return !stored || (epoch != 0 && !lineage.covers(epoch));
    }

    private void begin(Lineage lineage, Claim claim, long now) {
        active = false;
        // The member holds permits of a key that does not exist here: the key was lost just now, or with the last
        // loss.
        boolean remembered = !stored && claim.validlyHeld() > 0;
        long from = remembered ? now : lineage.since();
        boolean wholeLease = remembered || !lineage.isVirgin();
        long until = wholeLease ? from + lineage.longestLease() : lineage.graceEnd();
        if (until > now) {
            startAt(from, wholeLease, until);
        }
    }

    private void startAt(long from, boolean lasts, long until) {
        active = true;
        start = from;
        extensible = lasts;
        end = until;
        pool = 0;
    }

    /**
     * The key is stored from now on, perhaps by a member that does not know epochs. Called for each claim that
     * changes the key, also while no grace is active.
     */
    void written() {
        stored = true;
    }

    void expire(long now) {
        if (active && extensible && start > now) { // the clock was set back: the grace would last longer otherwise
            end -= start - now;
            start = now;
        }
        if (active && now >= end) {
            active = false;
        }
    }

    /** Extends the grace if a longer lease was stated since it began: a member may hold for that long. */
    void extend(Lineage lineage) {
        if (active && extensible) {
            end = Math.max(end, start + lineage.longestLease());
        }
    }

    /**
     * How many permits the member gets back. The epoch of the claim has to be the present one: it shows that the member has
     * received an answer of this server, so that the claim states what the member holds after the loss. It gets nothing back if the
     * claim was on its way for too long: the server has confirmed what the member holds at the claim's version, or an earlier server
     * has before the loss, and the lease has ended since.
     */
    int reclaimable(Claim claim, Lineage lineage, long now) {
        long confirmed = Math.max(claim.version(), lineage.since());
        boolean valid = now - confirmed <= TimeUnit.MICROSECONDS.convert(claim.lease());
        return valid ? reclaimable(claim) : 0;
    }

    /** The same in a store with sessions: a claim that was on its way for too long is of a session that has ended. */
    int reclaimable(Claim claim) {
        return active && claim.epoch() == epoch ? claim.validlyHeld() : 0;
    }

    /**
     * Counts permits that came back. The grace does not end when they are as many as the limit, because a member that states a
     * higher limit may hold more.
     */
    void readmit(int permits) {
        pool += active ? permits : 0;
    }

    /** An operator has taken permits from a member, which may reclaim them before it is notified: they must not count twice. */
    void evicted(int permits) {
        pool = Math.max(0, pool - permits);
    }

    /** Whether the grace may keep free permits from being granted. */
    boolean withholds(int limit) {
        return active && pool < limit;
    }

    /**
     * The most permits in use that a grant may lead to. Outside the grace this is the limit itself, so that the step
     * needs no other case.
     */
    int cap(int limit) {
        return active ? Math.min(limit, pool) : limit;
    }

    @Override
    public String toString() {
        return "grace until %d, %d back".formatted(end, pool);
    }
}
