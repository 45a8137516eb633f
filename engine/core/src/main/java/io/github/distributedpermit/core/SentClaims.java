package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * The claims of a line that the store has not confirmed, oldest first. Those in flight may still be answered; the others
 * have failed or timed out, and nobody knows whether they took effect. Guarded by the lock of the line. Links and counts
 * change together, without a call in between, so that no error can leave them at odds.
 */
final class SentClaims {

    /** While the store is away only so many are remembered one by one. */
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

    /** An answer to the older of the two will be ignored; what it gave back is remembered by the newer. */
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

    /** The first of all; each knows its {@link SentClaim#next}. */
    @Nullable
    SentClaim oldest() {
        return oldest;
    }

    @Nullable
    SentClaim find(long sequence) {
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            if (claim.sequence == sequence) {
                return claim;
            }
        }
        return null;
    }

    /** What the store must leave us, going by the claims sent after this one. */
    int leastHeldAfter(long sequence) {
        int least = Integer.MAX_VALUE;
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            if (claim.sequence > sequence) {
                least = Math.min(least, claim.held);
            }
        }
        return least;
    }

    /** The claim has been answered or has failed; {@code false} if it was not in flight any more. */
    boolean landed(long sequence) {
        SentClaim claim = find(sequence);
        if (claim == null || !claim.inFlight) {
            return false;
        }
        claim.inFlight = false;
        inFlight--;
        return true;
    }

    /** The store has seen this claim; whatever becomes of those before it, they change nothing any more. */
    void confirmed(long sequence) {
        for (SentClaim first = oldest; first != null && first.sequence <= sequence; first = oldest) {
            removeOldest(first);
        }
    }

    /** Nothing could be received until now. */
    void restart(long now) {
        for (SentClaim claim = oldest; claim != null; claim = claim.next) {
            claim.restart(now);
        }
    }

    /** What was sent up to that time the store has forgotten. Whether one of these claims was still in flight. */
    boolean forgetUntil(long time) {
        int before = inFlight;
        for (SentClaim first = oldest; first != null && first.at <= time; first = oldest) {
            removeOldest(first);
        }
        return inFlight < before;
    }

    boolean isInFlight(long sequence) {
        SentClaim claim = inFlight == 0 ? null : find(sequence);
        return claim != null && claim.inFlight;
    }

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

    /** When the oldest that is not confirmed was sent; {@link LineState#NEVER} if there is none. */
    long oldestAt() {
        SentClaim first = oldest;
        return first == null ? LineState.NEVER : first.at;
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
