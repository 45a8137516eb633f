package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one key that the store has not confirmed, oldest first. Those in flight may still be answered. The others
 * have failed or timed out, and the outcome of each is unknown: it may have taken effect, or may still do so. Guarded by the
 * lock of the {@link KeyQueue}. Links and counts change together, without a method call in between, so that not even a stack
 * overflow can leave them inconsistent.
 */
final class SentClaims {

    /** While the store does not answer, only so many claims are kept one by one, so that memory stays bounded. */
    private static final int MOST_UNANSWERED = 16;

    private @Nullable SentClaim oldest;
    private @Nullable SentClaim newest;
    private int size;
    private int inFlight;

    void add(SentClaim claim) {
        if (size - inFlight >= MOST_UNANSWERED) {
            mergeOldest();
        }
        SentClaim before = newest;
        if (before == null) {
            oldest = claim;
        } else {
            before.next = claim;
        }
        newest = claim;
        size++;
        inFlight++;
    }

    /**
     * Merges the oldest claim into the one after it. An answer to the oldest will be ignored; what it gave back is kept in the
     * lower {@code held} of the other, because the store may have applied it.
     */
    private void mergeOldest() {
        SentClaim first = oldest;
        if (first != null && !first.inFlight) {
            SentClaim following = first.next;
            if (following != null && first.held < following.held) {
                following.held = first.held;
            }
            removeOldest(first);
        }
    }

    private void removeOldest(SentClaim first) {
        SentClaim following = first.next;
        oldest = following;
        if (following == null) {
            newest = null;
        }
        size--;
        if (first.inFlight) {
            first.inFlight = false;
            inFlight--;
        }
    }

    /** The newest claim; {@code null} if all are confirmed. */
    @Nullable
    SentClaim newest() {
        return newest;
    }

    /** The oldest claim; each has a link to its {@link SentClaim#next}. */
    @Nullable
    SentClaim oldest() {
        return oldest;
    }

    /** The claim of this sequence; {@code null} if it has been confirmed or merged. */
    @Nullable
    SentClaim find(long sequence) {
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            if (claim.sequence == sequence) {
                return claim;
            }
        }
        return null;
    }

    /** How many permits the store leaves this member at least, according to the claims sent after this sequence. */
    int leastHeldAfter(long sequence) {
        int least = Integer.MAX_VALUE;
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            if (claim.sequence > sequence) {
                least = Math.min(least, claim.held);
            }
        }
        return least;
    }

    /** The claim has been answered, has failed or has timed out; {@code false} if it was not in flight any more. */
    boolean landed(long sequence) {
        SentClaim claim = find(sequence);
        if (claim == null || !claim.inFlight) {
            return false;
        }
        claim.inFlight = false;
        inFlight--;
        return true;
    }

    /** The store has answered this claim. Those before it can change nothing any more, because their sequence is lower. */
    void confirmed(long sequence) {
        for (SentClaim first = oldest; first != null && first.sequence <= sequence; first = oldest) {
            removeOldest(first);
        }
    }

    /** Starts the time-outs again, because the process stood still and could not receive answers. */
    void restart(long now) {
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            claim.restart(now);
        }
    }

    /** Drops claims sent up to that time, whose leases have ended. Whether one of them was still in flight. */
    boolean forgetUntil(long time, Effects effects) {
        int before = inFlight;
        for (SentClaim first = oldest; first != null && first.at <= time; first = oldest) {
            if (first.inFlight) {
                effects.execute(first::withdraw);
            }
            removeOldest(first);
        }
        return inFlight < before;
    }

    /** Has answers received once more that the queue does not know, because an error may have kept them from it. */
    void receiveAgain(Effects effects) {
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            if (claim.inFlight && claim.isAnswered()) {
                effects.execute(claim::receiveAgain);
            }
        }
    }

    /** Whether the claim of this sequence may still be answered. */
    boolean isInFlight(long sequence) {
        SentClaim claim = inFlight == 0 ? null : find(sequence);
        return claim != null && claim.inFlight;
    }

    /** The oldest claim that may still be answered; {@code null} if there is none. */
    @Nullable
    SentClaim oldestInFlight() {
        if (inFlight > 0) {
            for (SentClaim claim = oldest; claim != null; claim = claim.next) {
                if (claim.inFlight) {
                    return claim;
                }
            }
        }
        return null;
    }

    /** When the oldest unconfirmed claim was sent; {@link Times#NEVER} if there is none. */
    long oldestAt() {
        SentClaim first = oldest;
        return first == null ? Times.NEVER : first.at;
    }

    int inFlight() {
        return inFlight;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void clear() {
        oldest = null;
        newest = null;
        size = 0;
        inFlight = 0;
    }
}
