package io.github.distributedpermit.core;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a line that the store has not confirmed, oldest first. Those in flight may still be answered; the others
 * have failed or timed out, and nobody knows whether they took effect. Guarded by the lock of the line.
 */
final class SentClaims {

    /** While the store is away only so many are remembered one by one. */
    private static final int MOST_UNANSWERED = 16;

    private final Deque<SentClaim> claims = new ArrayDeque<>(4);
    private int inFlight;

    void add(SentClaim claim) {
        if (claims.size() - inFlight >= MOST_UNANSWERED) {
            mergeOldest();
        }
        claims.add(claim);
        inFlight++;
    }

    /** An answer to the older of the two will be ignored; what it gave back is remembered by the newer. */
    private void mergeOldest() {
        SentClaim oldest = claims.peekFirst();
        if (oldest != null && !oldest.inFlight) {
            claims.removeFirst();
            SentClaim following = claims.peekFirst();
            if (following != null) {
                following.held = Math.min(following.held, oldest.held);
            }
        }
    }

    @Nullable
    SentClaim find(long sequence) {
        for (SentClaim claim : claims) {
            if (claim.sequence == sequence) {
                return claim;
            }
        }
        return null;
    }

    /** What the store must leave us, going by the claims sent after this one. */
    int leastHeldAfter(long sequence) {
        int least = Integer.MAX_VALUE;
        for (SentClaim claim : claims) {
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
        claims.removeIf(claim -> {
            boolean settled = claim.sequence <= sequence;
            if (settled && claim.inFlight) {
                inFlight--;
            }
            return settled;
        });
    }

    /** Nothing could be received until now. */
    void restart(long now) {
        for (SentClaim claim : claims) {
            claim.restart(now);
        }
    }

    /** What was sent up to that time the store has forgotten. Whether one of these claims was still in flight. */
    boolean forgetUntil(long time) {
        int before = inFlight;
        for (SentClaim oldest = claims.peekFirst(); oldest != null && oldest.at <= time; oldest = claims.peekFirst()) {
            claims.removeFirst();
            if (oldest.inFlight) {
                inFlight--;
            }
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
            for (SentClaim claim : claims) {
                if (claim.inFlight) {
                    return claim;
                }
            }
        }
        return null;
    }

    /** When the oldest that is not confirmed was sent; {@link LineState#NEVER} if there is none. */
    long oldestAt() {
        SentClaim oldest = claims.peekFirst();
        return oldest == null ? LineState.NEVER : oldest.at;
    }

    int inFlight() {
        return inFlight;
    }

    boolean isEmpty() {
        return claims.isEmpty();
    }

    void clear() {
        claims.clear();
        inFlight = 0;
    }
}
