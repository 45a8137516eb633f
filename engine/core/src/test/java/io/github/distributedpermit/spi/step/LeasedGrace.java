package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.concurrent.TimeUnit;

/**
 * The {@link Grace} of a key whose permits have leases, as Redis has it: decides for the key whether its records were lost. If they
 * belong to an epoch whose data is not complete here, they are void. {@link Lineage} says which data is complete. It has the same
 * rules as lineage.lua and claim.lua, so that tests can compare both forms (docs/decisions/0013-three-forms-of-the-step.md).
 *
 * <p>Times are microseconds of the server's clock.
 */
final class LeasedGrace extends Grace {

    /** Whether the key exists on the server. A key that does not may be new or may have been lost. */
    private boolean stored;
    /** When the server was last compared with the data, see {@link #check}. */
    private long checked;
    /** When the grace began. It ends one lease later: the longest that members have stated, also meanwhile. */
    private long start;
    /** Whether the grace lasts for a lease. The grace of a new server has a fixed end instead. */
    private boolean extensible;

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
        boolean foreign = claim.reclaim().knownEpoch() != 0 && claim.reclaim().knownEpoch() != epoch;
        if (!stored
                || claim.reclaim().checksEpoch()
                || foreign
                || lineage.epoch() != epoch
                || lineage.closed() == epoch
                || lineage.isAheadOf(now)) {
            return true;
        }
        if ((claim.reclaim().validlyHeld() > recorded && !active) || wentOnBeforeALoss(lineage)) {
            return true;
        }
        return claim.counts().wanted() > claim.reclaim().validlyHeld() || queued;
    }

    /**
     * Compares the server with the one that has written the data, and begins a grace if some of it may be missing.
     *
     * @param knownLease see {@link Lineage#check}
     * @return whether the records of the key are void
     */
    boolean check(ServerIdentity server, Lineage lineage, Claim claim, long knownLease, long now) {
        boolean missed = lineage.check(server, claim.reclaim().knownEpoch(), knownLease, now);
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
        boolean remembered = !stored && claim.reclaim().validlyHeld() > 0;
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

    /** The key is stored from now on, perhaps by a member that does not know epochs, also while no grace is active. */
    @Override
    void readmit(int permits) {
        stored = true;
        super.readmit(permits);
    }

    @Override
    void expire(long now) {
        if (active && extensible && start > now) { // the clock was set back: the grace would last longer otherwise
            end -= start - now;
            start = now;
        }
        super.expire(now);
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
        long confirmed = Math.max(claim.reclaim().knownVersion(), lineage.since());
        boolean valid = now - confirmed <= TimeUnit.MICROSECONDS.convert(claim.lease());
        return valid ? reclaimable(claim) : 0;
    }

    @Override
    public String toString() {
        return "grace until %d, %d back".formatted(end, pool);
    }
}
