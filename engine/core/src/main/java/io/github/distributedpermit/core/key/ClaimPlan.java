package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a claim of one key is due and may be sent now, and creates it. The rules:
 *
 * <ul>
 *   <li>A claim states absolute numbers, so one claim reports all changes since the last one. The end of a call causes a claim
 *       only if its permit goes back to the store.
 *   <li>While the store has more permits recorded than the member counts as its own, a return is due: a claim that leaves the
 *       member only the permits in use, although calls here may want more. The store serves its queue with the others.
 *   <li>One claim is in flight at a time, except after one that asked for no waiter, see {@link #maySend}.
 *   <li>After a failure, claims are sent one at a time, with the pauses of a {@link Backoff}.
 * </ul>
 *
 * <p>Guarded by the lock of the {@link KeyQueue}.
 */
final class ClaimPlan {

    /** No claim. */
    static final long NONE = -1;

    final SentClaims sent = new SentClaims();
    final Backoff backoff = new Backoff();
    private final String key;
    private final SentClaim.Answers answers;
    final AnswerTime answerTime = new AnswerTime();
    private Policy policy;

    /** The last claim, with which isDue(), nextTimed() and shown() compare the present numbers; {@code null} if it is void. */
    private @Nullable Claim last;

    /** The limit that the last claim stated. */
    private int stated;

    private long lastSentAt;
    private @Nullable Waiter lastOldest;

    /** How many calls waited when {@link #shown} last computed its number, which later re-checks may repeat. */
    private int lastCalls;

    /** When that was. */
    private long callsStatedAt;

    /** A claim is due even if it is equal to the last one. */
    private boolean again;

    /** The next claim makes the store check whether it has lost state, because contact was lost. */
    private boolean checksEpoch;

    /** A permit passed from call to call since the last claim. */
    private boolean passedOn;

    /** When the claim is repeated for waiting calls, in case a notification was lost. */
    private long recheckAt;

    /** See {@link #rememberedUntil()}. */
    private long rememberedUntil;

    /** When the oldest claim after the last confirmed one was sent; {@link Times#NEVER} if all are confirmed. */
    private long unconfirmedSince = Times.NEVER;

    ClaimPlan(String key, SentClaim.Answers answers, Policy policy) {
        this.key = key;
        this.answers = answers;
        this.policy = policy;
        this.stated = Math.min(policy.limit(), PermitDefinition.MAX_LIMIT);
    }

    void adopt(Policy settings) {
        policy = settings;
    }

    /** The limit that a claim for this call states; without a call the one of the claim before, if each call has its own. */
    private int limitFor(@Nullable Waiter head) {
        return !policy.isPerCall() ? policy.limit() : head == null ? stated : head.limit;
    }

    /** The highest limit that the store may apply to a claim for this call, as far as is known. */
    int highestLimit(Waiter head, Ledger ledger) {
        Integer known = ledger.knownLimit();
        int ownLimit = limitFor(head);
        return known == null ? ownLimit : Math.max(known, ownLimit);
    }

    /** The limit for this call, but such that the answer shows whether an operator's limit is still in effect. */
    private int limitToState(@Nullable Waiter head, Ledger ledger, WaiterQueue waiters) {
        boolean overridden = policy.isPerCall() && head != null && ledger.mayBeOverridden();
        return overridden ? waiters.limitOtherThan(ledger.override()) : limitFor(head);
    }

    /** Another claim is due, even if it is equal to the last one. */
    void askAgain() {
        again = true;
    }

    /** Contact with the store was lost, or it has lost state: the next claim makes it check its epoch. */
    void checkEpoch() {
        checksEpoch = true;
    }

    /** A permit passed from call to call without the store, so a claim has to report the age of the next oldest waiter. */
    void passedOn() {
        passedOn = true;
    }

    /** Whether a permit passed from call to call since the last claim. */
    boolean hasPassedOn() {
        return passedOn;
    }

    /** The most permits to accept from this answer: permits that are about to go back must not be granted again. */
    int mostToAccept(Holding answer, Ledger ledger, WaiterQueue waiters) {
        boolean returned = givesBack(ledger, waiters) || (answer.others().over() && ledger.owes());
        return returned && sequenceOfReturn(ledger) == NONE ? ledger.granted() : Integer.MAX_VALUE;
    }

    /**
     * Whether what the member owes goes back to the store in any case. The next call may use it instead if no other member wants it,
     * and if any permit will do for that call.
     */
    private boolean givesBack(Ledger ledger, WaiterQueue waiters) {
        if (!ledger.owes()) {
            return false;
        }
        // after a failure the return must not wait for the next call: each claim may be the only one that arrives
        if (policy.isPerCall() || ledger.isContended() || ledger.isOver() || backoff.isFailing()) {
            return true;
        }
        Waiter head = waiters.head();
        return head == null || head.weight > 1;
    }

    /** The sequence of the claim that returns what is owed; {@link #NONE} if it has not been sent. */
    long sequenceOfReturn(Ledger ledger) {
        SentClaim newest = sent.newest();
        return newest != null && newest.held <= ledger.granted() ? newest.sequence : NONE;
    }

    /** An answer or a notification has been applied. */
    void confirmed(long now, @Nullable Duration recheckAfter) {
        unconfirmedSince = sent.oldestAt();
        long delay = Math.min(policy.recheck(), policy.renewal());
        recheckAt = now + (recheckAfter == null ? delay : Math.min(delay, recheckAfter.toNanos()));
        // A notification confirms a claim, but is no answer: while contact is lost no permit is returned, so that one
        // has to be answered.
        again |= backoff.isFailing() && sent.inFlight() == 0;
    }

    /** A claim failed or was not answered in time. */
    void failed(long now, double jitter) {
        backoff.failed(now, jitter);
        again = true;
        checksEpoch = true;
    }

    /** Drops all sent claims, because the store has deleted the records of this member. */
    void forgotten() {
        sent.clear();
        unconfirmedSince = Times.NEVER;
        last = null;
        again = false;
    }

    /** The store may have permits of this member recorded from now on, for a lease and a command time-out. */
    void remembered(long now) {
        rememberedUntil = now + policy.lease() + policy.commandTimeout();
    }

    /** Until when the store may have permits of this member recorded, even if no further claim arrives. */
    long rememberedUntil() {
        return rememberedUntil;
    }

    /**
     * Whether no answer has been applied for a lease although claims were sent. The claims may arrive and only their answers be
     * lost. Then each repetition would renew permits in the store that this member can't use. So until a claim is confirmed the
     * member claims only what is in use. In a store with leases that is nothing, because all permits have expired here by then.
     */
    boolean getsNoAnswers(long now) {
        return unconfirmedSince != Times.NEVER && now - unconfirmedSince >= policy.lease();
    }

    /** When the first claim was sent that no answer has been applied to; {@link Times#NEVER} if there is none. */
    long unconfirmedSince() {
        return unconfirmedSince;
    }

    /**
     * After an error: recorded claims that were never sent are not in flight, and a new one sends the present numbers. The answers
     * to others are received again, in case the error came before they were.
     */
    void mend(Effects effects) {
        for (SentClaim claim = sent.oldest(); claim != null; claim = claim.next) {
            if (!claim.collected) {
                sent.landed(claim.sequence);
            }
        }
        sent.receiveAgain(effects);
        again = true;
    }

    /**
     * How many permits a claim asks for: those in use, those that waiters want, and those that linger. It exceeds the
     * limit only if the permits in use and the head of the queue together do. A member that {@linkplain #getsNoAnswers gets no
     * answers} asks only for what is in use.
     */
    int wanted(Ledger ledger, WaiterQueue waiters, long now) {
        if (getsNoAnswers(now)) {
            return ledger.inUse();
        }
        Waiter head = waiters.head();
        if (head == null) {
            return ledger.granted();
        }
        long most = Math.max(highestLimit(head, ledger), (long) ledger.inUse() + head.weight);
        long more = ledger.isContended() ? waiters.weightInTurn(head, most) : waiters.weight(head.limit);
        return (int) Math.min(most, ledger.inUse() + more);
    }

    /**
     * Whether a claim is due: a return is owed, a call that does not wait has no claim yet, another claim was requested, calls want
     * more than the last claim asked for, the last waiter has left the queue, the head of the queue wants another number of
     * permits, has another limit, is older than the last claim stated or has no head start unlike that one, it has changed whether any call is willing to wait, or a {@linkplain #nextTimed time} has come.
     */
    boolean isDue(int wanted, Ledger ledger, WaiterQueue waiters, boolean leases, long now) {
        int lastWanted = last == null ? 0 : last.counts().wanted();
        boolean lastQueue = last != null && last.head().queues();
        if ((ledger.owes() && !sent.isInFlight(sequenceOfReturn(ledger)))
                || again
                || wanted > lastWanted
                || waiters.hasUnclaimedTry()) {
            return true;
        }
        Waiter head = waiters.head();
        // the queue is empty now: the store has to take this member out of its queue
        if (head == null && lastQueue && lastWanted > ledger.granted()) {
            return true;
        }
        if (head != null
                && (head.weight != lastWeight()
                        || waiters.hasQueueing() != lastQueue
                        || (policy.isPerCall() && limitToState(head, ledger, waiters) != stated))) {
            return true;
        }
        Waiter oldest = waiters.oldest();
        if (oldest != null && (isOlderThanStated(oldest) || (ledger.isContended() && hasLostHeadStart(oldest)))) {
            return true;
        }
        return now >= nextTimed(ledger.granted(), waiters, leases);
    }

    /** Whether a call with a head start has become the head since the last claim. */
    private boolean isOlderThanStated(Waiter oldest) {
        return last != null
                && last.head().weight() > 0
                && oldest.queuedAt < lastSentAt - last.head().waited().toNanos();
    }

    /** Whether the last claim stated the age of a call with a head start, and none such waits any more: others may precede now. */
    private boolean hasLostHeadStart(Waiter oldest) {
        return lastOldest != null && lastOldest.hasHeadStart() && !oldest.hasHeadStart();
    }

    private int lastWeight() {
        return last == null ? 0 : last.head().weight();
    }

    /** Whether the next claim is one in case a notification was lost. */
    boolean isRecheck(long now) {
        return now >= recheckAt;
    }

    /** When a claim is due without an event: to renew, to re-check or to report a hand-over, or {@link Times#NEVER}. */
    long nextTimed(int granted, WaiterQueue waiters, boolean leases) {
        long at = Times.NEVER;
        Waiter oldest = waiters.oldest();
        if (oldest != null) {
            at = recheckAt;
        }
        // the store orders members by the age of their oldest waiter, so a new oldest is reported, once in a slice
        boolean handingOver = oldest != null && (passedOn || oldest != lastOldest);
        if (handingOver || (passedOn && granted > 0 && policy.linger() > 0)) {
            at = Math.min(at, lastSentAt + answerTime.slice(policy));
        }
        if (granted > 0 && leases) {
            at = Math.min(at, lastSentAt + policy.renewal());
        }
        return at;
    }

    /**
     * Whether the last claim to a store that may lose its state failed. Until one is answered the member returns no permits: a
     * return could not arrive, and if the store has lost its state the member gets back no more than its lowered count.
     */
    boolean isOutOfContact(Ledger ledger) {
        return ledger.epoch() != 0 && backoff.isFailing();
    }

    /**
     * Whether a claim that is due may be sent now. It is sent before the last one is answered only if calls wait here
     * and the last one asked for no waiter, as a mere return does, so that at most two are unanswered. If other members wait for permits, the
     * claim waits for the answer. Sent at once, it would delay the notification of those members and gain nothing,
     * because the position in the store's queue depends on the age of the waiter.
     *
     * @param contended whether other members wait, as of the last answer
     */
    boolean maySend(WaiterQueue waiters, boolean contended, long now) {
        if (now < backoff.until()) {
            return false;
        }
        return sent.inFlight() == 0
                || (!contended
                        && !getsNoAnswers(now)
                        && !backoff.isFailing()
                        && !waiters.isEmpty()
                        && lastWeight() == 0);
    }

    /** What this member gets back if the store has lost its state: not {@code held}, which may include what waiters want. */
    private static int validlyHeld(Ledger ledger, int held) {
        return Math.min(ledger.granted(), held);
    }

    /**
     * What operators see. In a store with sessions a claim that changes nothing costs no write. So there a re-check repeats what the
     * last claim stated, unless the number of calls has changed by more than a quarter or is older than a third of the lease
     * (docs/decisions/0018-a-claim-states-how-many-calls-wait.md).
     */
    private Claim.Shown shown(
            int wanted, int granted, int weight, boolean leases, @Nullable Waiter oldest, int calls, long now) {
        boolean isRecheck = last != null
                && oldest != null
                && oldest == lastOldest
                && wanted == last.counts().wanted()
                && weight == last.head().weight();
        boolean isClose = 4L * Math.abs(calls - lastCalls) <= lastCalls && now - callsStatedAt < policy.renewal();
        if (!leases && isRecheck && isClose && last != null) {
            return last.shown();
        }
        lastCalls = calls;
        callsStatedAt = now;
        int covered = weight == 0 ? 0 : (Math.max(0, wanted - granted) + weight - 1) / weight;
        return new Claim.Shown(Math.max(0, calls - covered));
    }

    /** Creates the claim that is due; the effects send it. The member lowers its own count before the claim is sent. */
    void makeClaim(
            long sequence, int wanted, Ledger ledger, WaiterQueue waiters, boolean leases, long now, Effects effects) {
        boolean unanswered = getsNoAnswers(now);
        // while contact is lost, a return could not arrive, and what is still granted can be reclaimed
        boolean returning = givesBack(ledger, waiters) && !isOutOfContact(ledger);
        int held = returning ? ledger.inUse() : wanted;
        ledger.shrinkTo(held);
        Waiter head = unanswered ? null : waiters.head();
        Waiter oldest = unanswered ? null : waiters.oldest();
        stated = limitToState(head, ledger, waiters);
        int weight = head == null ? 0 : head.weight;
        Duration waited = oldest == null ? Duration.ZERO : Duration.ofNanos(now - oldest.queuedAt);
        boolean queue = !unanswered && waiters.hasQueueing();
        int calls = queue ? waiters.queueing() : 0;
        Claim claim = new Claim(
                key,
                sequence,
                policy.leaseDuration(),
                new Claim.Counts(stated, held, wanted),
                new Claim.Head(weight, waited, queue),
                new Claim.Reclaim(validlyHeld(ledger, held), ledger.epoch(), checksEpoch, ledger.highestVersion()),
                shown(wanted, ledger.granted(), weight, leases, oldest, calls, now));
        boolean ahead = oldest != null && oldest.hasHeadStart();
        SentClaim record = new SentClaim(answers, sequence, stated, held, ahead, now, ledger.epoch());
        sent.add(record);
        if (unanswered) {
            // this claim asks for no waiter, so its answer must reject none of them
            waiters.forgetClaims();
        } else {
            waiters.noteClaim(sequence, stated);
        }
        if (unconfirmedSince == Times.NEVER) {
            unconfirmedSince = now;
        }
        last = claim;
        lastSentAt = now;
        lastOldest = oldest;
        again = false;
        checksEpoch = false;
        passedOn = false;
        recheckAt = now + policy.recheck();
        if (wanted > 0) {
            remembered(now);
        }
        effects.collect(claim, record);
    }
}
