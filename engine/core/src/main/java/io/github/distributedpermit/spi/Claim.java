package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * "Of this key leave me {@code held} of what I have, I want {@code wanted} in all." Absolute, so safe to repeat.
 *
 * @param key the key, as the user gave it
 * @param limit the limit this member states
 * @param sequence increases with every claim of the member, over all keys
 * @param held what the store must leave to the member, if it has it recorded
 * @param wanted how many the member would like in all
 * @param unit weight of its oldest waiter: grant at least that much more, or nothing; 0 if no call waits
 * @param waited age of the oldest waiter when the claim was sent
 * @param lease how long the holding outlives this claim, on the store's clock; a store with sessions ignores it
 * @param queue whether any call is willing to wait in the queue
 * @param kept permits that the member validly holds when it sends the claim, between what calls use and {@code held}; a store
 *     that has lost its state gives no more than these back
 * @param epoch the {@link Holding#epoch} of the last answer for this key; 0 if there was none
 * @param probe whether the store has to check its epoch although nothing new is wanted, because contact was lost before
 * @param beyond how many calls wait besides those that {@code wanted} covers, for operators: a member wants no more than the
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
        int unit,
        Duration waited,
        Duration lease,
        boolean queue,
        int kept,
        long epoch,
        boolean probe,
        int beyond,
        long version) {

    /** Checks the values. */
    public Claim {
        Objects.requireNonNull(key, "key");
        if (limit < 1 || sequence < 0 || held < 0 || wanted < 0 || unit < 0 || kept < 0 || kept > held || beyond < 0) {
            throw new IllegalArgumentException("limit %d, sequence %d, held %d, wanted %d, unit %d, kept %d, beyond %d"
                    .formatted(limit, sequence, held, wanted, unit, kept, beyond));
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
            int unit,
            Duration waited,
            Duration lease,
            boolean queue) {
        this(key, limit, sequence, held, wanted, unit, waited, lease, queue, 0, 0, false, 0, 0);
    }

    /** The same claim, but of what the member has the store leaves no more than this. */
    public Claim leaving(int most) {
        return most >= held
                ? this
                : new Claim(
                        key,
                        limit,
                        sequence,
                        most,
                        wanted,
                        unit,
                        waited,
                        lease,
                        queue,
                        Math.min(kept, most),
                        epoch,
                        probe,
                        beyond,
                        version);
    }

    /**
     * Merges this claim and another one of the same member and key into one. The claim with the higher sequence counts, and
     * leaves no more than either of them would. If a claim with a higher sequence than the lower one was sent already, the
     * lower one has no effect: the sent claim has returned the same permits, and the member may have been granted them again
     * since.
     *
     * @param sent the highest sequence that was sent
     */
    public Claim mergedWith(Claim other, long sent) {
        boolean comesFirst = other.sequence > sequence;
        Claim first = comesFirst ? this : other;
        Claim last = comesFirst ? other : this;
        return first.sequence > sent ? last.leaving(first.held) : last;
    }
}
