package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/**
 * What this process may hold of one key: {@code granted}, the part of it in use, and which word of the store that rests
 * on. Always {@code inUse <= granted <= every held sent since}. Guarded by the lock of the line.
 */
final class Ledger {

    private static final int UNKNOWN = -1;

    final Holders holders = new Holders();
    private Policy policy;

    private int granted;
    private long appliedSequence = UNKNOWN;
    private long appliedVersion = UNKNOWN;
    private long appliedSentAt;
    private long grantsOfVersion;
    private long validUntil;
    private long sliceStart;
    private int knownLimit = UNKNOWN;
    private boolean contended;
    private boolean over;

    Ledger(Policy policy) {
        this.policy = policy;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /**
     * Takes in an answer or a push; the two are the same. {@code false} if it is old, of an unknown claim or too late.
     *
     * @param cap no more than this may be taken in, since less is about to be asked for
     * @param aliveUntil end of the session's validity, or {@code Long.MAX_VALUE} without sessions
     */
    boolean apply(Holding holding, SentClaims sent, int cap, long aliveUntil, long now, Effects effects) {
        if (!isNews(holding)) {
            return false;
        }
        long sentAt = appliedSentAt;
        if (holding.sequence() != appliedSequence) {
            SentClaim claim = sent.find(holding.sequence());
            if (claim == null) {
                return false;
            }
            sentAt = claim.at;
        }
        boolean sessions = aliveUntil != Long.MAX_VALUE;
        long until = sessions ? aliveUntil : sentAt + policy.validity();
        if (now >= until) {
            return false;
        }
        int permits = Math.min(Math.min(holding.permits(), cap), sent.leastHeldAfter(holding.sequence()));
        holders.loseDownTo(permits, effects);
        if (holding.version() != appliedVersion) {
            grantsOfVersion = 0;
        }
        appliedSequence = holding.sequence();
        appliedVersion = holding.version();
        appliedSentAt = sentAt;
        validUntil = until;
        knownLimit = holding.limit();
        contended = holding.contended();
        over = holding.over();
        if (permits > granted) {
            sliceStart = now;
        }
        granted = permits;
        sent.confirmed(appliedSequence);
        return true;
    }

    private boolean isNews(Holding holding) {
        return holding.sequence() != appliedSequence
                ? holding.sequence() > appliedSequence
                : holding.version() > appliedVersion;
    }

    /** Whether the store speaks of a claim that has not been taken in. */
    boolean isBeyond(Holding holding) {
        return holding.sequence() > appliedSequence;
    }

    /** The next grant under what was last taken in. */
    Grant grant(KeyLine line, NameUse use, int weight, long now) {
        return new Grant(line, use, weight, appliedVersion, grantsOfVersion++, now);
    }

    /** The grant is in use from now on. */
    void hold(Grant grant) {
        holders.add(grant);
        grant.gauge();
    }

    /** An error came between the decision that the call gets the grant and {@link #hold}, or after both. */
    void holdAfterError(Grant grant) {
        if (!grant.counted && !grant.ended && !grant.isLost()) {
            hold(grant);
        }
    }

    /** After an error: keeps what is in use, and nothing else that an event cut short may have left here. */
    void mend() {
        holders.mend();
        shrinkTo(holders.inUse());
    }

    /** The grant is in use no more; {@code false} if it was lost before. */
    boolean letGo(Grant grant) {
        if (!grant.counted) {
            return false;
        }
        grant.ungauge();
        return holders.remove(grant);
    }

    /** Nothing is held any more. */
    void loseAll(Effects effects) {
        holders.loseDownTo(0, effects);
        granted = 0;
    }

    /** Whatever the store may still say of claims sent so far was said to a member that is no more. */
    void distrust() {
        appliedVersion = Long.MAX_VALUE;
    }

    void shrinkTo(int permits) {
        granted = Math.min(granted, permits);
    }

    int granted() {
        return granted;
    }

    int inUse() {
        return holders.inUse();
    }

    int idle() {
        return granted - holders.inUse();
    }

    long validUntil() {
        return validUntil;
    }

    long sliceStart() {
        return sliceStart;
    }

    long appliedSequence() {
        return appliedSequence;
    }

    boolean isContended() {
        return contended;
    }

    boolean isOver() {
        return over;
    }

    /** The limit in effect as last heard; {@code null} if never. */
    @Nullable
    Integer knownLimit() {
        return knownLimit == UNKNOWN ? null : knownLimit;
    }
}
