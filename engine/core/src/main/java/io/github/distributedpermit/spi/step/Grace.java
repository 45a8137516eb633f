package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.concurrent.TimeUnit;

/**
 * Of one key of a store that may lose its state: the epoch that its records belong to, and the time of grace after a loss, in
 * which members get back what they validly hold, and no other permits are granted but those that came back and were returned
 * since. Times are microseconds of the server's clock. Confined.
 */
final class Grace {

    /** For how long a check counts. */
    static final long CHECK_LASTS = 100_000;

    /** By how much versions jump, so that tokens do not repeat: more than clocks of servers should differ. */
    private static final long VERSION_JUMP = 64_000_000;

    private static final long VERSION_SPREAD = 1 << 24;

    private boolean stored;
    private long epoch;
    private long checked;
    private boolean jumps;
    private boolean active;
    private long start;
    private boolean extensible;
    private long end;
    private int pool;

    long epoch() {
        return epoch;
    }

    boolean isActive() {
        return active;
    }

    long end() {
        return end;
    }

    /** Whether the server has to be compared with the data before this claim. */
    boolean isDue(Claim claim, int recorded, boolean queued, Lineage lineage, long now) {
        boolean foreign = claim.epoch() != 0 && claim.epoch() != epoch;
        if (!stored || claim.probe() || foreign || lineage.epoch() != epoch || lineage.closed() == epoch) {
            return true;
        }
        if ((claim.kept() > recorded && !active) || wentOnBeforeALoss(lineage)) {
            return true;
        }
        boolean mayGrant = claim.wanted() > claim.kept() || queued;
        return mayGrant && (now < checked || now - checked >= CHECK_LASTS);
    }

    /**
     * Compares the server with the data.
     *
     * @return whether the records of the key are void
     */
    boolean check(ServerIdentity server, Lineage lineage, Claim claim, long now) {
        boolean missed = lineage.check(server, claim.epoch(), now);
        boolean lost = isLost(lineage);
        if (lost) {
            begin(lineage, claim, now);
            jumps = stored || active;
        } else if ((missed || wentOnBeforeALoss(lineage)) && lineage.graceEnd(micros(claim)) > now) {
            startAt(lineage.since(), true, lineage.graceEnd(micros(claim)));
        }
        stored = true;
        epoch = lineage.epoch();
        checked = now;
        return lost;
    }

    /**
     * Whether the key was served as that of a new server, and then a claim of another key has shown that the server was not
     * new, but had lost its data.
     */
    private boolean wentOnBeforeALoss(Lineage lineage) {
        boolean knows = active && start == lineage.since();
        return epoch != 0 && checked < lineage.since() && !lineage.isVirgin() && !knows;
    }

    private boolean isLost(Lineage lineage) {
        return !stored || (epoch != 0 && !lineage.covers(epoch));
    }

    private void begin(Lineage lineage, Claim claim, long now) {
        active = false;
        boolean remembered = !stored && claim.kept() > 0;
        long from = remembered ? now : lineage.since();
        boolean wholeLease = remembered || !lineage.isVirgin();
        long until = wholeLease ? from + micros(claim) : lineage.graceEnd(0);
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

    /** The key is stored from now on, perhaps by a member that does not know epochs. */
    void written() {
        stored = true;
    }

    /** The version from which those of a new epoch go on. A key that is new and has lost nothing begins with the clock. */
    long jump(long version, long now) {
        return !jumps ? version : Math.max(version, now) + VERSION_JUMP + epoch % VERSION_SPREAD;
    }

    void expire(long now) {
        if (active && now >= end) {
            active = false;
        }
    }

    /** A claim with a longer lease may come from a member that holds for longer. */
    void extend(Claim claim) {
        if (active && extensible) {
            end = Math.max(end, start + micros(claim));
        }
    }

    /** How many permits the member gets back. A claim that was written before the loss reclaims nothing. */
    int reclaimable(Claim claim) {
        return active && claim.epoch() == epoch ? claim.kept() : 0;
    }

    /**
     * Counts permits that came back. The grace does not end when they are as many as the limit: a member that states a higher
     * one may hold more.
     */
    void readmit(int permits) {
        pool += active ? permits : 0;
    }

    /** An operator has taken permits from a member, which may reclaim them before it is notified: they must not count twice. */
    void evicted(int permits) {
        pool = Math.max(0, pool - permits);
    }

    /** Whether permits may be free that are not granted because of the grace. */
    boolean withholds(int limit) {
        return active && pool < limit;
    }

    /** The most permits in use that a grant may lead to. */
    int cap(int limit) {
        return active ? Math.min(limit, pool) : limit;
    }

    @Override
    public String toString() {
        return "grace until %d, %d back".formatted(end, pool);
    }

    private static long micros(Claim claim) {
        return TimeUnit.MICROSECONDS.convert(claim.lease());
    }
}
