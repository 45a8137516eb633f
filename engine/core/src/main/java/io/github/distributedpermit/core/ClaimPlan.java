package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Claim;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which claim is due, and whether it may be sent. The rules are those of the claim protocol: no claim merely because a
 * call ended; what was lowered is owed to the store until a claim that carried it is confirmed. Guarded by the lock of
 * the line.
 */
final class ClaimPlan {

    /** No claim. */
    static final long NONE = -1;

    final SentClaims sent = new SentClaims();
    final Backoff backoff = new Backoff();
    private final KeyLine line;
    private Policy policy;

    private long lastSentAt;
    private int lastWanted;
    private int lastUnit;
    private boolean lastQueue;
    private @Nullable Waiter lastOldest;

    private boolean owed;
    private long owedCarrier = NONE;
    private boolean giveBack;
    private long giveBackCarrier = NONE;
    private boolean newTry;
    private boolean again;
    private boolean passedOn;
    private long recheckAt;
    private long rememberedUntil;

    /** When the oldest claim after the last confirmed one was sent; {@link LineState#NEVER} if all are confirmed. */
    private long unconfirmedSince = LineState.NEVER;

    ClaimPlan(KeyLine line, Policy policy) {
        this.line = line;
        this.policy = policy;
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** Permits were lowered here and the store has to hear of it. */
    void owe() {
        owed = true;
        owedCarrier = NONE;
    }

    /** Permits go back to the store's line although calls here would take them. */
    void giveBack() {
        owe();
        giveBack = true;
        giveBackCarrier = NONE;
    }

    /** A call came that does not wait: it is told after one claim of its own. */
    void newTry() {
        newTry = true;
    }

    /** The store is to be asked once more, whatever the last claim said. */
    void askAgain() {
        again = true;
    }

    /** A permit passed from call to call without the store. */
    void passedOn() {
        passedOn = true;
    }

    /** Whether that is noted already since the last claim. */
    boolean hasPassedOn() {
        return passedOn;
    }

    /** What a push or an old answer may not exceed: what is about to be given back must not come in again. */
    int cap(int granted) {
        return giveBack && giveBackCarrier == NONE ? granted : Integer.MAX_VALUE;
    }

    /** The store has confirmed all claims up to this one. */
    void confirmed(long sequence, long now, @Nullable Duration recheckAfter) {
        if (owedCarrier != NONE && owedCarrier <= sequence) {
            owed = false;
            owedCarrier = NONE;
        }
        if (giveBackCarrier != NONE && giveBackCarrier <= sequence) {
            giveBack = false;
            giveBackCarrier = NONE;
        }
        unconfirmedSince = sent.oldestAt();
        long delay = Math.min(policy.recheck(), policy.renewal());
        recheckAt = now + (recheckAfter == null ? delay : Math.min(delay, recheckAfter.toNanos()));
    }

    /** A claim failed or was not answered in time. */
    void failed(long now, double jitter) {
        backoff.failed(now, jitter);
        again = true;
    }

    /** Nothing that was ever sent matters any more: the store has forgotten this member. */
    void forgotten() {
        sent.clear();
        unconfirmedSince = LineState.NEVER;
        owed = false;
        giveBack = false;
        owedCarrier = NONE;
        giveBackCarrier = NONE;
        lastWanted = 0;
        lastQueue = false;
        again = false;
    }

    /** Whether the store may still count permits that nobody here uses. */
    boolean owes() {
        return owed || giveBack;
    }

    /** The claim on its way that tells the store of what it may still count; {@link #NONE} if that is yet to be sent. */
    long owedCarrier() {
        return owedCarrier;
    }

    /** The store has, or is about to have, something recorded for this member. */
    void remembered(long now) {
        rememberedUntil = now + policy.lease() + policy.commandTimeout();
    }

    /** Until when the store may remember permits of this member, even if no further claim arrives. */
    long rememberedUntil() {
        return rememberedUntil;
    }

    /**
     * Whether no answer has been applied for a lease although claims were sent. Their answers may be lost on the way while
     * the claims themselves arrive, and then each repetition would renew permits in the store that this member can't use.
     * So the member claims only what is in use, which in a store with leases is nothing by then, until one such claim is
     * confirmed.
     */
    boolean isProbing(long now) {
        return unconfirmedSince != LineState.NEVER && now - unconfirmedSince >= policy.lease();
    }

    /** When the first claim was sent that no answer has been applied to; {@link LineState#NEVER} if there is none. */
    long unconfirmedSince() {
        return unconfirmedSince;
    }

    /** After an error: claims that were noted but never left are in flight no more, and a new one states how things are. */
    void mend() {
        for (SentClaim claim = sent.oldest(); claim != null; claim = claim.next) {
            if (!claim.leaves) {
                sent.landed(claim.sequence);
            }
        }
        owe();
        again = true;
    }

    boolean isDue(int wanted, int granted, WaiterQueue waiters, boolean leases, long now) {
        if ((owed && !sent.isInFlight(owedCarrier)) || (giveBack && !sent.isInFlight(giveBackCarrier))) {
            return true;
        }
        if (newTry || again || wanted > lastWanted) {
            return true;
        }
        Waiter oldest = waiters.first();
        if (oldest == null && lastQueue && lastWanted > granted) {
            return true;
        }
        if (oldest != null && (oldest.weight != lastUnit || waiters.hasQueueing() != lastQueue)) {
            return true;
        }
        return now >= nextTimed(granted, waiters, leases);
    }

    /** When a claim falls due by itself; {@code Long.MAX_VALUE} for never. */
    long nextTimed(int granted, WaiterQueue waiters, boolean leases) {
        long at = Long.MAX_VALUE;
        Waiter oldest = waiters.first();
        if (oldest != null) {
            at = recheckAt;
        }
        boolean handingOver = oldest != null && (passedOn || oldest != lastOldest);
        if (handingOver || (passedOn && granted > 0 && policy.linger() > 0)) {
            at = Math.min(at, lastSentAt + policy.slice());
        }
        if (granted > 0 && leases) {
            at = Math.min(at, lastSentAt + policy.renewal());
        }
        return at;
    }

    /**
     * A claim follows another without waiting for its answer only if calls wait and the last one was a pure return. Not
     * where others wait for what it returns: the store would work on the claim before it tells them, and its place in line
     * goes by age anyway.
     */
    boolean maySend(WaiterQueue waiters, boolean contended, long now) {
        if (now < backoff.until()) {
            return false;
        }
        int inFlight = sent.inFlight();
        return inFlight == 0
                || (!contended
                        && !isProbing(now)
                        && inFlight < policy.window()
                        && !backoff.isFailing()
                        && !waiters.isEmpty()
                        && lastUnit == 0);
    }

    /** Makes the claim that is due. The member lowers its own count before the claim leaves. */
    void send(long sequence, int wanted, Ledger ledger, WaiterQueue waiters, long now, Effects effects) {
        boolean probing = isProbing(now);
        int held = giveBack ? ledger.inUse() : wanted;
        ledger.shrinkTo(held);
        Waiter oldest = probing ? null : waiters.first();
        int unit = oldest == null ? 0 : oldest.weight;
        Duration waited = oldest == null ? Duration.ZERO : Duration.ofNanos(now - oldest.arrival);
        boolean queue = !probing && waiters.hasQueueing();
        Claim claim = new Claim(
                line.key(), policy.limit(), sequence, held, wanted, unit, waited, policy.leaseDuration(), queue);
        SentClaim record = new SentClaim(line, sequence, held, now);
        sent.add(record);
        if (probing) {
            waiters.unclaimed(); // this claim's answer is none to them
        } else {
            waiters.claimed(sequence);
        }
        newTry = probing && waiters.hasTries();
        if (unconfirmedSince == LineState.NEVER) {
            unconfirmedSince = now;
        }
        owedCarrier = owed ? sequence : NONE;
        giveBackCarrier = giveBack ? sequence : NONE;
        lastSentAt = now;
        lastWanted = wanted;
        lastUnit = unit;
        lastQueue = queue;
        lastOldest = oldest;
        again = false;
        passedOn = false;
        recheckAt = now + policy.recheck();
        if (wanted > 0) {
            remembered(now);
        }
        effects.send(claim, record);
    }
}
