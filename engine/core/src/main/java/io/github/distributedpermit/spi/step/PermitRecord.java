package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import java.util.OptionalLong;

/**
 * What a store has recorded for one member of a key.
 *
 * <p>Immutable; a change is a new record. The stores have it in different formats: a packed string in Redis, a line
 * of a document in ZooKeeper, and entries in Consul that are put together for a step.
 *
 * @param member its id
 * @param permits how many it may hold
 * @param sequence the highest seen from the member
 * @param version of this record; grows with every change of the permits and with every claim
 * @param wanted how many it wants in all
 * @param weightOfHead weight of its oldest waiter
 * @param least a grant leaves it at least this many, or changes nothing
 * @param limit the limit it states
 * @param since when its oldest waiter arrived, in the order of the store; present only while it is queued
 * @param shown what its claim says for operators; nothing while it is not queued
 * @param expiry when the record lapses, on the store's clock, or {@link #NEVER}
 */
public record PermitRecord(
        String member,
        int permits,
        long sequence,
        long version,
        int wanted,
        int weightOfHead,
        int least,
        int limit,
        OptionalLong since,
        Claim.Shown shown,
        long expiry) {

    /** The expiry of a record that is bound to a session, or whose lease is endless. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Its sequence is below that of every claim, so that the first claim of a member always counts. */
    static PermitRecord unknown(String member) {
        return new PermitRecord(member, 0, -1, 0, 0, 0, 0, 0, OptionalLong.empty(), Claim.Shown.NOTHING, NEVER);
    }

    /** Whether the member waits for more. */
    public boolean isQueued() {
        return since.isPresent();
    }

    /** Whether the member waits, and its oldest waiter has not been served since its last claim. */
    boolean isWithoutGrant() {
        return isQueued() && permits < least;
    }

    /**
     * How many permits more than it has its oldest waiter needs. A claim that was sent before the member received a grant may want
     * fewer than that: nothing can be granted for it, under no limit, until the next one.
     */
    int lacks() {
        return least > wanted ? Integer.MAX_VALUE : Math.max(1, least - permits);
    }

    /**
     * How many calls of the member wait: those that {@code wanted} covers, if each wants as much as the oldest, and
     * the others. A store that serves the member only has to count its permits for it. For operators only; the step
     * does not depend on it.
     */
    public int calls() {
        int weight = Math.max(1, weightOfHead);
        return isQueued() ? shown.waitingBeyondWanted() + Math.max(1, (wanted - permits + weight - 1) / weight) : 0;
    }

    /**
     * Whether the record says nothing but which sequence came last. Such a record is a tombstone where leases are
     * used, and is removed where sessions are.
     */
    public boolean isIdle() {
        return permits == 0 && !isQueued();
    }

    /**
     * Whether this record and another of the same member say the same, apart from their sequence and version: the
     * claim that made one of the other asked for nothing that was not recorded already. A store may then leave the
     * old record as it is, since both lead to the same grants.
     */
    public boolean isRepetitionOf(PermitRecord other) {
        return equals(new PermitRecord(
                other.member,
                other.permits,
                sequence,
                version,
                other.wanted,
                other.weightOfHead,
                other.least,
                other.limit,
                other.since,
                other.shown,
                other.expiry));
    }

    /**
     * The record that a claim makes of this one, before the queue is served.
     *
     * @param base what the claim leaves to the member
     * @param arrival its position in the queue; empty if it does not wait
     */
    PermitRecord claimed(Claim claim, int base, long nextVersion, OptionalLong arrival) {
        return new PermitRecord(
                member,
                base,
                claim.sequence(),
                nextVersion,
                claim.counts().wanted(),
                claim.head().weight(),
                // A grant has to serve the oldest waiter whole; less than that would only be given back.
                base + claim.head().weight(),
                claim.counts().limit(),
                arrival,
                arrival.isPresent() ? claim.shown() : Claim.Shown.NOTHING,
                // The expiry is set when the claim has been served, since it depends on whether the member holds or
                // waits.
                NEVER);
    }

    /**
     * The record after a grant. A partly served member keeps its position in the queue; its next claim carries the age of
     * its oldest remaining waiter.
     */
    PermitRecord grown(int target, long nextVersion) {
        boolean queued = target < wanted && since.isPresent();
        OptionalLong place = queued ? since : OptionalLong.empty();
        Claim.Shown further = queued ? shown : Claim.Shown.NOTHING;
        return new PermitRecord(
                member, target, sequence, nextVersion, wanted, weightOfHead, least, limit, place, further, expiry);
    }

    /**
     * Without permits, and out of the queue, which the member joins again by its next claim: served at once, some of its calls
     * would keep their permits.
     */
    PermitRecord evicted(long nextVersion) {
        return new PermitRecord(
                member,
                0,
                sequence,
                nextVersion,
                0,
                weightOfHead,
                0,
                limit,
                OptionalLong.empty(),
                Claim.Shown.NOTHING,
                expiry);
    }

    /** @param at when the record lapses, on the clock of the store */
    PermitRecord expiring(long at) {
        return new PermitRecord(
                member, permits, sequence, version, wanted, weightOfHead, least, limit, since, shown, at);
    }
}
