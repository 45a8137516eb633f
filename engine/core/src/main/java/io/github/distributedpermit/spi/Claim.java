package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * Requests that the store sets the permits of a member for a key: the member keeps at least {@code held} of those it has, and is
 * granted up to {@code wanted}. A claim is absolute, so that it is safe to repeat.
 *
 * @param key the key, as the user gave it
 * @param limit the limit this member states
 * @param sequence increases with every claim of the member, over all keys
 * @param held how many permits the member keeps, if the store has so many recorded for it
 * @param wanted how many the member would like in all
 * @param weightOfHead weight of its oldest waiter: grant at least that much more, or nothing; 0 if no call waits
 * @param waited age of the oldest waiter when the claim was sent
 * @param lease how long the holding outlives this claim, on the store's clock; a store with sessions ignores it
 * @param queue whether any call is willing to wait in the queue
 * @param validlyHeld permits that the member validly holds when it sends the claim, between what calls use and {@code held}; a store
 *     that has lost its state gives no more than these back
 * @param epoch the {@link Holding#epoch} of the last answer for this key; 0 if there was none
 * @param checksEpoch whether the store has to check its epoch although nothing new is wanted, because contact was lost before
 * @param waitingBeyondWanted how many calls wait besides those that {@code wanted} covers, for operators: a member wants no more than the
 *     limit, however many calls wait. A store needs it only while the member is queued, and may have it out of date
 * @param version the highest {@link Holding#version} of this key that the member has received; 0 if there was none. A store that
 *     has lost its own goes on above it
 */
public record Claim(
        String key,
        int limit,
        long sequence,
        int held,
        int wanted,
        int weightOfHead,
        Duration waited,
        Duration lease,
        boolean queue,
        int validlyHeld,
        long epoch,
        boolean checksEpoch,
        int waitingBeyondWanted,
        long version) {

    /** Checks the values. */
    public Claim {
        Objects.requireNonNull(key, "key");
        if (limit < 1
                || sequence < 0
                || held < 0
                || wanted < 0
                || weightOfHead < 0
                || validlyHeld < 0
                || validlyHeld > held
                || waitingBeyondWanted < 0) {
            throw new IllegalArgumentException(
                    "limit %d, sequence %d, held %d, wanted %d, weightOfHead %d, validlyHeld %d, waitingBeyondWanted %d"
                            .formatted(limit, sequence, held, wanted, weightOfHead, validlyHeld, waitingBeyondWanted));
        }
        if (waited.isNegative() || lease.isNegative() || lease.isZero()) {
            throw new IllegalArgumentException("waited %s, lease %s".formatted(waited, lease));
        }
    }

    /** A claim that covers all calls that wait, and has nothing to reclaim from a store that may have lost its state. */
    public Claim(
            String key,
            int limit,
            long sequence,
            int held,
            int wanted,
            int weightOfHead,
            Duration waited,
            Duration lease,
            boolean queue) {
        this(key, limit, sequence, held, wanted, weightOfHead, waited, lease, queue, 0, 0, false, 0, 0);
    }

    /** The same claim, by which the member keeps no more than this of what it has. */
    public Claim keepingAtMost(int most) {
        return most >= held
                ? this
                : new Claim(
                        key,
                        limit,
                        sequence,
                        most,
                        wanted,
                        weightOfHead,
                        waited,
                        lease,
                        queue,
                        Math.min(validlyHeld, most),
                        epoch,
                        checksEpoch,
                        waitingBeyondWanted,
                        version);
    }

    /**
     * Merges this claim and another one of the same member and key into one. The claim with the higher sequence counts, and
     * by it the member keeps no more than by either of them. If a claim with a higher sequence than the lower one was sent already, the
     * lower one has no effect: the sent claim has returned the same permits, and the member may have been granted them again
     * since.
     *
     * @param sent the highest sequence that was sent
     */
    public Claim mergedWith(Claim other, long sent) {
        boolean comesFirst = other.sequence > sequence;
        Claim first = comesFirst ? this : other;
        Claim last = comesFirst ? other : this;
        return first.sequence > sent ? last.keepingAtMost(first.held) : last;
    }
}
