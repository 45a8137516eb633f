package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/**
 * The account of one key in this process: how many permits the store has granted, how many of them are in use, and the
 * answer or notification that was applied last. Invariant: {@code inUse <= granted}, and {@code granted <= held} for
 * every claim sent after the applied one. So the sum over all members never exceeds what the store has recorded.
 * Guarded by the lock of the {@link KeyQueue}.
 */
final class Ledger {

    private static final int UNKNOWN = -1;

    final Holders holders = new Holders();
    private Policy policy;

    private int granted;

    /** How many permits the store has recorded for this process, as of the applied answer; never less than the own count. */
    private int recorded;

    private long appliedSequence = UNKNOWN;
    private long appliedVersion = UNKNOWN;

    /** The highest that was applied, for a store that loses its own: the tokens of grants must not go back. */
    private long highestVersion;

    /** When the applied claim was sent. Notifications that follow its answer do not renew the lease, so they count from here too. */
    private long appliedSentAt;

    /** How many grants were numbered under the applied version; with it the number is the token of a grant. */
    private long grantsOfVersion;

    private long validUntil;
    private long sliceStart;
    private int knownLimit = UNKNOWN;

    /** The operator's limit, as far as answers to claims that stated another one have shown it. */
    private int override = UNKNOWN;

    /** The limit that the applied claim stated. */
    private int statedLimit = UNKNOWN;

    /** Whether that claim asked for a call with a head start. */
    private boolean statedAhead;

    /** Whether the last permits that arrived were for such a call. */
    private boolean grantedAhead;

    private boolean contended;
    private boolean over;

    /** The epoch of the store as of the last answer; 0 if it has none, see {@link Holding#epoch}. */
    private long epoch;

    /** The epoch of the applied answer. It is an earlier one than {@link #epoch} if answers arrive out of order. */
    private long appliedEpoch;

    private boolean enteredEpoch;
    private boolean inGrace;

    Ledger(Policy policy) {
        this.policy = policy;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /**
     * Whether the message is an answer of another epoch of the store than its claim was sent to. Such a store has lost the
     * record of this member, and its answer must not end permits that the next claim can reclaim.
     */
    boolean isOfAnotherEpoch(Holding holding, SentClaims sent) {
        if (holding.epoch() == 0 || !isNews(holding)) {
            return false;
        }
        SentClaim claim = sent.find(holding.sequence());
        long asked = claim != null ? claim.epoch : holding.sequence() == appliedSequence ? appliedEpoch : 0;
        return asked != 0 && asked != holding.epoch();
    }

    /** From now on claims are sent to this epoch of the store. */
    void enterEpoch(long next) {
        epoch = next;
        enteredEpoch = true;
    }

    /** Whether the store has changed its epoch since the last answer without a grace. */
    boolean hasEnteredEpoch() {
        return enteredEpoch;
    }

    /**
     * Applies an answer or a notification; both have the same content. {@code false} if it is older than the last one,
     * belongs to no known claim, or arrives after the validity of its claim has ended.
     *
     * @param sent the claims that are not confirmed yet
     * @param cap the most permits to accept, because a claim that returns the others is about to be sent
     * @param aliveUntil until when the session is certain to live, {@link Times#NEVER} without sessions
     */
    boolean apply(Holding holding, SentClaims sent, int cap, long aliveUntil, long now, Effects effects) {
        if (!isNews(holding)) {
            return false;
        }
        long sentAt = appliedSentAt;
        int stated = statedLimit;
        boolean ahead = statedAhead;
        if (holding.sequence() != appliedSequence) {
            SentClaim claim = sent.find(holding.sequence());
            if (claim == null) {
                return false;
            }
            sentAt = claim.at;
            stated = claim.limit;
            ahead = claim.ahead;
        }
        // validity counts from when the claim was sent: the store cannot have recorded it before
        boolean sessions = aliveUntil != Times.NEVER;
        long until = sessions ? aliveUntil : sentAt + policy.validity();
        if (now >= until) {
            return false;
        }
        // A later claim may return some of the permits that this answer grants. The store may have applied that claim
        // already, so the lowest number is valid.
        int permits = Math.min(Math.min(holding.permits(), cap), sent.leastHeldAfter(holding.sequence()));
        holders.loseDownTo(
                permits, holding.others().grace() || enteredEpoch ? LossCause.STATE_LOST : LossCause.TAKEN, effects);
        if (holding.version() != appliedVersion) {
            grantsOfVersion = 0;
        }
        appliedSequence = holding.sequence();
        appliedVersion = holding.version();
        highestVersion = Math.max(highestVersion, appliedVersion);
        appliedSentAt = sentAt;
        validUntil = until;
        knownLimit = holding.limit();
        statedLimit = stated;
        statedAhead = ahead;
        if (knownLimit != statedLimit) {
            override = knownLimit;
        } else if (knownLimit != override) {
            override = UNKNOWN;
        }
        contended = holding.others().contended();
        over = holding.others().over();
        if (epoch == 0) {
            epoch = holding.epoch();
        }
        appliedEpoch = holding.epoch();
        inGrace = holding.others().grace();
        enteredEpoch = enteredEpoch && inGrace;
        if (permits > granted) {
            sliceStart = now;
            grantedAhead = ahead;
        }
        granted = permits;
        recorded = holding.permits();
        sent.confirmed(appliedSequence);
        return true;
    }

    /** Whether the pair of sequence and version is higher than the last one: messages may arrive out of order. */
    private boolean isNews(Holding holding) {
        return holding.sequence() != appliedSequence
                ? holding.sequence() > appliedSequence
                : holding.version() > appliedVersion;
    }

    /** Whether it belongs to a later claim than the last applied one. */
    boolean isOfLaterClaim(Holding holding) {
        return holding.sequence() > appliedSequence;
    }

    /** A new grant, numbered within the store's version so that its token is unique. */
    Grant grant(Grant.Owner owner, PermitName permit, int weight, long now) {
        return new Grant(owner, permit, weight, appliedVersion, grantsOfVersion++, now);
    }

    /** Counts the grant as in use. */
    void hold(Grant grant) {
        holders.add(grant);
        grant.gauge();
    }

    /** Repeats {@link #hold} for a grant that a call has, if an error prevented it. */
    void holdAfterError(Grant grant) {
        if (!grant.counted && !grant.ended && !grant.isLost()) {
            hold(grant);
        }
    }

    /** After an error: keeps what is in use, and nothing else, because the other numbers may be wrong. */
    void mend() {
        holders.mend();
        shrinkTo(holders.inUse());
    }

    /** Counts the grant as no longer in use; {@code false} if it was lost before. */
    boolean letGo(Grant grant) {
        if (!grant.counted) {
            return false;
        }
        grant.ungauge();
        return holders.remove(grant);
    }

    /** Marks all permits of this process as lost. */
    void loseAll(LossCause cause, Effects effects) {
        holders.loseDownTo(0, cause, effects);
        granted = 0;
        recorded = 0;
    }

    /** The store has recorded nothing any more that this process does not use. */
    void forgotten() {
        recorded = granted;
    }

    /** Ignores all further answers to the claims sent so far: they belong to a session that has ended. */
    void distrust() {
        appliedVersion = Long.MAX_VALUE;
    }

    /** Lowers the count, before a claim with that {@code held} is sent. Only {@link #apply} raises it. */
    void shrinkTo(int permits) {
        granted = Math.min(granted, permits);
    }

    /** How many permits this process may use. */
    int granted() {
        return granted;
    }

    /** Whether the store has recorded permits that this process does not count as its own any more: it is owed their return. */
    boolean owes() {
        return recorded > granted;
    }

    int inUse() {
        return holders.inUse();
    }

    /** How many permits are granted and not in use. */
    int idle() {
        return granted - holders.inUse();
    }

    /** Until when the lease of the last confirmed claim is certain to last. */
    long validUntil() {
        return validUntil;
    }

    /** When permits last arrived from the store: the start of the time slice for passing them on. */
    long sliceStart() {
        return sliceStart;
    }

    /** Whether these were for a call with a head start. */
    boolean isGrantedAhead() {
        return grantedAhead;
    }

    /** The sequence of the last claim whose answer was applied. */
    long appliedSequence() {
        return appliedSequence;
    }

    /** Whether other members wait, as of the last answer. */
    boolean isContended() {
        return contended;
    }

    /** Whether more permits are in use than the limit allows, as of the last answer. */
    boolean isOver() {
        return over;
    }

    /** The epoch of the store that the next claim carries; 0 if the store has none. */
    long epoch() {
        return epoch;
    }

    /** The highest version of the answers and notifications that were applied; 0 before the first. */
    long highestVersion() {
        return highestVersion;
    }

    /** Whether the store has lost the state of the key and waits for holders to reclaim, as of the last answer. */
    boolean isInGrace() {
        return inGrace;
    }

    /** More permits are in use here than a limit that has just been lowered, although the store has not answered yet. */
    void exceedLimit() {
        over = true;
    }

    /** The limit that this member has stated, as of the last answer. No more permits than this are in use, unless an operator or others allow it. */
    int statedLimit() {
        return statedLimit;
    }

    /** The same, also if the last claim happened to state the limit that an operator had set before. */
    boolean mayBeOverridden() {
        return override != UNKNOWN;
    }

    /** That limit. A claim that states it does not show whether it is still in effect. */
    int override() {
        return override;
    }

    /** Whether an operator's limit is in effect, as of the last answer. */
    boolean isOverridden() {
        return knownLimit != statedLimit;
    }

    /** The limit in effect as of the last answer; {@code null} before the first. */
    @Nullable
    Integer knownLimit() {
        return knownLimit == UNKNOWN ? null : knownLimit;
    }
}
