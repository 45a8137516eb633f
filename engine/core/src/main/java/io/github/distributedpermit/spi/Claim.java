package io.github.distributedpermit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * Requests that the store sets the permits of a member for a key: the member keeps at least {@code held} of those it has, and is
 * granted up to {@code wanted}. A claim is absolute, so that it is safe to repeat.
 *
 * @param key the key, as the user gave it
 * @param sequence increases with every claim of the member, over all keys
 * @param lease how long the holding outlives this claim, on the store's clock; a store with sessions ignores it
 * @param counts the limit and the permits
 * @param head the calls that wait in the member
 * @param reclaim for a store that may lose its state; others ignore it
 * @param shown for operators; no grant depends on it
 */
public record Claim(String key, long sequence, Duration lease, Counts counts, Head head, Reclaim reclaim, Shown shown) {

    /** Checks the values. */
    public Claim {
        Objects.requireNonNull(key, "key");
        if (sequence < 0 || lease.isNegative() || lease.isZero() || reclaim.validlyHeld > counts.held) {
            throw new IllegalArgumentException(
                    "sequence %d, lease %s, %s, %s".formatted(sequence, lease, counts, reclaim));
        }
    }

    /**
     * How many permits.
     *
     * @param limit the limit this member states
     * @param held how many permits the member keeps, if the store has so many recorded for it
     * @param wanted how many the member would like in all
     */
    public record Counts(int limit, int held, int wanted) {

        /** Checks the values. */
        public Counts {
            if (limit < 1 || held < 0 || wanted < 0) {
                throw new IllegalArgumentException("limit %d, held %d, wanted %d".formatted(limit, held, wanted));
            }
        }
    }

    /**
     * The head of the queue of the member's own calls.
     *
     * @param weight permits that its oldest waiter needs: grant at least that much more, or nothing; 0 if no call waits
     * @param waited age of the oldest waiter when the claim was sent
     * @param queues whether any call is willing to wait in the queue
     */
    public record Head(int weight, Duration waited, boolean queues) {

        /** No call waits. */
        public static final Head NONE = new Head(0, Duration.ZERO, false);

        /** Checks the values. */
        public Head {
            if (weight < 0 || waited.isNegative()) {
                throw new IllegalArgumentException("weight %d, waited %s".formatted(weight, waited));
            }
        }
    }

    /**
     * What the member may reclaim from a store that has lost its state.
     *
     * @param validlyHeld permits that the member validly holds when it sends the claim, between what calls use and {@code held}; the
     *     store gives no more than these back
     * @param knownEpoch the {@link Holding#epoch} of the last answer for this key; 0 if there was none
     * @param checksEpoch whether the store has to check its epoch although nothing new is wanted, because contact was lost before
     * @param knownVersion the highest {@link Holding#version} of this key that the member has received; 0 if there was none. A store
     *     that has lost its own goes on above it
     */
    public record Reclaim(int validlyHeld, long knownEpoch, boolean checksEpoch, long knownVersion) {

        /** The member holds nothing that a store could have lost. */
        public static final Reclaim NOTHING = new Reclaim(0, 0, false, 0);

        /** Checks the values. */
        public Reclaim {
            if (validlyHeld < 0) {
                throw new IllegalArgumentException("validlyHeld " + validlyHeld);
            }
        }

        /** What a member states that has lost no contact. */
        public static Reclaim of(int validlyHeld, long knownEpoch) {
            return new Reclaim(validlyHeld, knownEpoch, false, 0);
        }

        /** The same, and the store has to check its epoch. */
        public Reclaim checking() {
            return new Reclaim(validlyHeld, knownEpoch, true, knownVersion);
        }

        /** The same of a member that has received this version. */
        public Reclaim knownVersion(long highest) {
            return new Reclaim(validlyHeld, knownEpoch, checksEpoch, highest);
        }

        private Reclaim atMost(int held) {
            return validlyHeld <= held ? this : new Reclaim(held, knownEpoch, checksEpoch, knownVersion);
        }
    }

    /**
     * What operators see of the member while it is queued. A store needs it only then, and may have it out of date.
     *
     * @param waitingBeyondWanted how many calls wait besides those that {@code wanted} covers: a member wants no more than the limit,
     *     however many calls wait
     */
    public record Shown(int waitingBeyondWanted) {

        /** The member has nothing to show beyond its counts. */
        public static final Shown NOTHING = new Shown(0);

        /** Checks the values. */
        public Shown {
            if (waitingBeyondWanted < 0) {
                throw new IllegalArgumentException("waitingBeyondWanted " + waitingBeyondWanted);
            }
        }
    }

    /** A claim under a limit of 1 that keeps and wants nothing; the methods with the name of a part change that part. */
    public static Claim of(String key, long sequence, Duration lease) {
        return new Claim(key, sequence, lease, new Counts(1, 0, 0), Head.NONE, Reclaim.NOTHING, Shown.NOTHING);
    }

    /** The same claim as the member's next one. */
    public Claim sequence(long next) {
        return new Claim(key, next, lease, counts, head, reclaim, shown);
    }

    /** The same claim with this lease. */
    public Claim lease(Duration length) {
        return new Claim(key, sequence, length, counts, head, reclaim, shown);
    }

    /** The same claim under this limit. */
    public Claim limit(int stated) {
        return with(new Counts(stated, counts.held, counts.wanted));
    }

    /** The same claim by a member that wants so many permits, and keeps what it has of them. */
    public Claim wanted(int permits) {
        return with(new Counts(counts.limit, permits, permits));
    }

    /** The same claim, by which the member keeps so many of the permits it has. */
    public Claim held(int permits) {
        return with(new Counts(counts.limit, permits, counts.wanted));
    }

    private Claim with(Counts other) {
        return new Claim(key, sequence, lease, other, head, reclaim.atMost(other.held), shown);
    }

    /** The same claim of a member in which these calls wait. */
    public Claim head(Head calls) {
        return new Claim(key, sequence, lease, counts, calls, reclaim, shown);
    }

    /** The same claim of a member in which a call that has just come waits in the queue for so many permits; for 0 none waits. */
    public Claim queued(int weight) {
        return head(weight == 0 ? Head.NONE : new Head(weight, Duration.ZERO, true));
    }

    /** The same claim of a member in which a call wants so many permits and does not wait. */
    public Claim tried(int weight) {
        return head(new Head(weight, Duration.ZERO, false));
    }

    /** The same claim of a member whose oldest waiter has this age. */
    public Claim waited(Duration age) {
        return head(new Head(head.weight, age, head.queues));
    }

    /** The same claim by a member that may reclaim this. */
    public Claim reclaim(Reclaim other) {
        return new Claim(key, sequence, lease, counts, head, other, shown);
    }

    /** The same claim with this for operators. */
    public Claim shown(Shown other) {
        return new Claim(key, sequence, lease, counts, head, reclaim, other);
    }

    /** The same claim, by which the member keeps no more than this of what it has. */
    public Claim keepingAtMost(int most) {
        return most >= counts.held ? this : held(most);
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
        return first.sequence > sent ? last.keepingAtMost(first.counts.held) : last;
    }
}
