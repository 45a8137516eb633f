package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.OptionalLong;

/**
 * What a store has recorded for one member of a key.
 *
 * @param member its id
 * @param permits how many it may hold
 * @param sequence the highest seen from the member
 * @param version of this record; grows with every change of the permits and with every claim
 * @param wanted how many it wants in all
 * @param unit weight of its oldest waiter
 * @param least a grant leaves it at least this many, or changes nothing
 * @param limit the limit it states
 * @param since when its oldest waiter arrived, in the order of the store; present only while it is queued
 * @param expiry when the record lapses, on the store's clock, or {@link #NEVER}
 */
public record PermitRecord(
        String member,
        int permits,
        long sequence,
        long version,
        int wanted,
        int unit,
        int least,
        int limit,
        OptionalLong since,
        long expiry) {

    /** The expiry of a record that is bound to a session, or whose lease is endless. */
    public static final long NEVER = Long.MAX_VALUE;

    static PermitRecord unknown(String member) {
        return new PermitRecord(member, 0, -1, 0, 0, 0, 0, 0, OptionalLong.empty(), NEVER);
    }

    /** Whether the member waits for more. */
    public boolean inLine() {
        return since.isPresent();
    }

    /** Whether the record says nothing but which sequence came last. */
    public boolean isIdle() {
        return permits == 0 && !inLine();
    }

    /**
     * Whether this record and another of the same member say the same, apart from their sequence and version: the claim
     * that made one of the other asked for nothing that was not recorded already.
     */
    public boolean isRepetitionOf(PermitRecord other) {
        return equals(new PermitRecord(
                other.member,
                other.permits,
                sequence,
                version,
                other.wanted,
                other.unit,
                other.least,
                other.limit,
                other.since,
                other.expiry));
    }

    PermitRecord claimed(Claim claim, int base, long nextVersion, OptionalLong arrival) {
        return new PermitRecord(
                member,
                base,
                claim.sequence(),
                nextVersion,
                claim.wanted(),
                claim.unit(),
                base + claim.unit(),
                claim.limit(),
                arrival,
                NEVER);
    }

    /**
     * The record after a grant. A partly served member keeps its position in the queue; its next claim carries the age of
     * its oldest remaining waiter.
     */
    PermitRecord grown(int target, long nextVersion) {
        OptionalLong place = target == wanted ? OptionalLong.empty() : since;
        return new PermitRecord(member, target, sequence, nextVersion, wanted, unit, least, limit, place, expiry);
    }

    /**
     * Without permits, and out of the queue, which the member joins again by its next claim: served at once, some of its calls
     * would keep their permits.
     */
    PermitRecord evicted(long nextVersion) {
        return new PermitRecord(member, 0, sequence, nextVersion, 0, unit, 0, limit, OptionalLong.empty(), expiry);
    }

    PermitRecord expiring(long at) {
        return new PermitRecord(member, permits, sequence, version, wanted, unit, least, limit, since, at);
    }
}
