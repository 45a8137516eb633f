package io.github.distributedpermit.core.key;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.key.Outcome.Refused;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.step.ServerIdentity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import net.bytebuddy.asm.Advice.Argument;
import net.bytebuddy.asm.Advice.FieldValue;
import net.bytebuddy.asm.Advice.OnMethodEnter;
import net.bytebuddy.asm.Advice.OnMethodExit;
import net.bytebuddy.asm.Advice.OnNonDefaultValue;
import net.bytebuddy.asm.Advice.Return;
import net.bytebuddy.asm.Advice.This;
import org.jspecify.annotations.Nullable;

/** The wrong pieces of code that {@link Mutant} puts into compiled classes of the core. They run inside those classes. */
@SuppressWarnings("UnusedVariable")
final class Mistakes {

    private Mistakes() {}

    /** Skips the method. */
    static final class Skipped {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter() {
            return true;
        }
    }

    /** {@code Waiter.startAhead}: a call overtakes more than its head start allows. */
    static final class StartsTooFarAhead {
        @OnMethodEnter
        static void enter(@Argument(value = 0, readOnly = false) long nanos) {
            nanos = 10 * nanos;
        }
    }

    /** {@code Waiter.isFairBefore}. */
    static final class WeightIgnored {
        @OnMethodExit
        static void exit(@This Waiter waiter, @Argument(0) Waiter earlier, @Return(readOnly = false) boolean precedes) {
            FairGroup<Waiter> mine = waiter.group;
            FairGroup<Waiter> others = earlier.group;
            precedes = mine != null && others != null && mine.inUse < others.inUse;
        }
    }

    /** {@code TakingOrder.of}: the order depends on that of the requests. */
    static final class AsAsked {
        @OnMethodExit
        static void exit(@Argument(1) Collection<PermitRequest> asked, @Return(readOnly = false) List<?> steps) {
            if (!asked.iterator().next().key().equals("k0")) {
                List<?> reversed = new ArrayList<>(steps);
                Collections.reverse(reversed);
                steps = reversed;
            }
        }
    }

    /** {@code WaiterQueue.oldest}: the claim states the age of the call that is next. */
    static final class OldestIsHead {
        @OnMethodExit
        static void exit(@This WaiterQueue queue, @Return(readOnly = false) Waiter oldest) {
            oldest = queue.head();
        }
    }

    /** {@code WaiterQueue.weightInTurn}: an urgent call is served together with those behind it. */
    static final class AllAreInTurn {
        @OnMethodExit
        static void exit(@This WaiterQueue queue, @Argument(0) Waiter head, @Return(readOnly = false) long permits) {
            permits = queue.weight(head.limit);
        }
    }

    /** {@code WaiterQueue.isAnswered}: the answer to a claim with any limit counts. */
    static final class AnyAnswerRejects {
        @OnMethodExit
        static void exit(
                @Argument(0) Waiter waiter,
                @FieldValue("answered") long answered,
                @Return(readOnly = false) boolean rejected) {
            rejected = waiter.wasClaimedBy(answered);
        }
    }

    /** {@code KeyRegistry.admit}. */
    static final class AdmitsNone {
        @OnMethodEnter
        static void enter(@Argument(value = 0, readOnly = false) Admission fewer) {
            fewer = Admission.NONE;
        }
    }

    /** {@code Ledger.isNews}. */
    static final class NoVersionTest {
        @OnMethodExit
        static void exit(
                @Argument(0) Holding holding,
                @FieldValue("appliedSequence") long applied,
                @Return(readOnly = false) boolean news) {
            news = holding.sequence() >= applied;
        }
    }

    /** {@code Ledger.isNews}. */
    static final class VersionAlone {
        @OnMethodExit
        static void exit(
                @Argument(0) Holding holding,
                @FieldValue("appliedVersion") long applied,
                @Return(readOnly = false) boolean news) {
            news = holding.version() > applied;
        }
    }

    /** {@code Ledger.apply}: whatever comes counts. */
    static final class AppliedUnconditionally {
        @OnMethodEnter
        static void enter(
                @Argument(value = 0, readOnly = false) Holding holding,
                @FieldValue("appliedSequence") long sequence,
                @FieldValue("appliedVersion") long version) {
            if (holding.sequence() <= sequence) {
                holding = new Holding(holding.permits(), holding.limit(), sequence, version + 1, holding.others());
            }
        }
    }

    /** {@code Ledger.apply}: nothing counts but the answer to the last claim. */
    static final class OnlyTheLastCounts {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter(@Argument(0) Holding holding, @Argument(1) SentClaims sent) {
            return sent.leastHeldAfter(holding.sequence()) != Integer.MAX_VALUE;
        }
    }

    /** {@code Ledger.apply}. */
    static final class DeadlineFromAnswer {
        @OnMethodExit
        static void exit(
                @Argument(4) long now,
                @FieldValue("policy") Policy policy,
                @FieldValue(value = "validUntil", readOnly = false) long until,
                @Return boolean applied) {
            if (applied) {
                until = now + policy.validity();
            }
        }
    }

    /** {@code Ledger.apply}: permits count for another lease, so that an answer too late for its own lease counts as well. */
    static final class TooLateCounts {
        @OnMethodExit
        static void exit(
                @Argument(4) long now,
                @FieldValue("policy") Policy policy,
                @FieldValue(value = "validUntil", readOnly = false) long until,
                @Return boolean applied) {
            if (applied) {
                until = until + policy.lease();
            }
        }
    }

    /** {@code Ledger.shrinkTo}. */
    static final class GrownBeforeAnswer {
        @OnMethodExit
        static void exit(@Argument(0) int permits, @FieldValue(value = "granted", readOnly = false) int granted) {
            granted = permits;
        }
    }

    /** {@code Ledger.grant}. */
    static final class TokenIsVersion {
        @OnMethodExit
        static void exit(@FieldValue(value = "grantsOfVersion", readOnly = false) long grants) {
            grants = 0;
        }
    }

    /** {@code ClaimPlan.confirmed} and {@code send}. */
    static final class NoRecheck {
        @OnMethodExit
        static void exit(@FieldValue(value = "recheckAt", readOnly = false) long recheckAt) {
            recheckAt = Long.MAX_VALUE;
        }
    }

    /** {@code ClaimPlan.nextTimed}: no check on behalf of calls that hand over. */
    static final class NeverLearns {
        @OnMethodEnter
        static void enter(
                @Argument(1) WaiterQueue waiters,
                @FieldValue(value = "passedOn", readOnly = false) boolean passedOn,
                @FieldValue(value = "lastOldest", readOnly = false) Waiter oldest) {
            passedOn = false;
            oldest = waiters.first();
        }
    }

    /** {@code ClaimPlan.isDue}. */
    static final class LastLeavesSilently {
        @OnMethodEnter
        static void enter(
                @Argument(2) WaiterQueue waiters, @FieldValue(value = "last", readOnly = false) @Nullable Claim last) {
            if (waiters.isEmpty() && last != null) {
                last = last.head(
                        new Claim.Head(last.head().weight(), last.head().waited(), false));
            }
        }
    }

    /** {@code ClaimPlan.maySend}: only the number of unanswered claims counts. */
    static final class NoPatience {
        @OnMethodExit
        static void exit(@FieldValue("sent") SentClaims sent, @Return(readOnly = false) boolean may) {
            may = sent.inFlight() < 4;
        }
    }

    /** {@code KeyQueueState.returnIdle}. */
    static final class IdlePartKept {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter(@FieldValue("waiters") WaiterQueue waiters) {
            return !waiters.isEmpty();
        }
    }

    /** {@code Rejections.rejectTooHeavy}. */
    static final class JudgedTooEarly {
        @OnMethodEnter
        static void enter(
                @Argument(0) Effects effects,
                @FieldValue("ledger") Ledger ledger,
                @FieldValue("waiters") WaiterQueue waiters) {
            rejectAll(effects, ledger, waiters);
        }
    }

    static void rejectAll(Effects effects, Ledger ledger, WaiterQueue waiters) {
        Integer limit = ledger.knownLimit();
        if (limit != null && limit > 0) {
            waiters.end(w -> w.weight > limit, new Refused(Reason.ABOVE_LIMIT), effects);
        }
    }

    /** {@code KeyQueueState.nextTime}. */
    static final class TimerWhileFull {
        @OnMethodExit
        static void exit(
                @FieldValue("plan") ClaimPlan plan,
                @FieldValue("ledger") Ledger ledger,
                @FieldValue("waiters") WaiterQueue waiters,
                @Return(readOnly = false) long at) {
            at = Math.min(at, plan.nextTimed(ledger.granted(), waiters, true));
        }
    }

    /** {@code Holders.loseDownTo}: no call is notified. */
    static final class LossIgnored {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter() {
            return true;
        }
    }

    /** {@code Backoff.failed}. */
    static final class NoBackoff {
        @OnMethodExit
        static void exit(@FieldValue(value = "until", readOnly = false) long until) {
            until = Long.MIN_VALUE;
        }
    }

    /** {@code ClaimPlan.validlyHeld}. */
    static final class HeldIsReclaimed {
        @OnMethodExit
        static void exit(@Argument(1) int held, @Return(readOnly = false) int kept) {
            kept = held;
        }
    }

    /** {@code Grace.cap}. */
    static final class CapIgnored {
        @OnMethodExit
        static void exit(@Argument(0) int limit, @Return(readOnly = false) int most) {
            most = limit;
        }
    }

    /** {@code Grace.cap}: the grace ends when as many permits came back as the member that is to be served states as limit. */
    static final class EndsEarly {
        @OnMethodEnter
        static void enter(
                @Argument(0) int limit,
                @FieldValue("pool") int pool,
                @FieldValue(value = "active", readOnly = false) boolean active) {
            active = active && pool < limit;
        }
    }

    /** {@code StatedLeases.longest}. */
    static final class Halved {
        @OnMethodExit
        static void exit(@Return(readOnly = false) long micros) {
            micros = micros / 2;
        }
    }

    /** {@code StatedLeases.state}. */
    static final class OtherLeasesForgotten {
        @OnMethodEnter
        static void enter(
                @FieldValue(value = "stated", readOnly = false) long stated,
                @FieldValue(value = "before", readOnly = false) long before) {
            stated = 0;
            before = 0;
        }
    }

    /** {@code Lineage.check}. */
    static final class KnownLeaseIgnored {
        @OnMethodEnter
        static void enter(@Argument(value = 2, readOnly = false) long knownLease) {
            knownLease = 0;
        }
    }

    /** {@code LeasedGrace.isDue}: no check is due for a while after one, although another server may have done it, on its own clock. */
    static final class EarlierCheckCounts {
        @OnMethodExit
        static void exit(
                @Argument(0) Claim claim,
                @Argument(4) long now,
                @FieldValue("stored") boolean stored,
                @FieldValue("epoch") long epoch,
                @FieldValue("checked") long checked,
                @Return(readOnly = false) boolean due) {
            boolean recent = now >= checked && now - checked < 100_000;
            boolean foreign =
                    claim.reclaim().knownEpoch() != 0 && claim.reclaim().knownEpoch() != epoch;
            due = due && (!stored || !recent || foreign || claim.reclaim().checksEpoch());
        }
    }

    /** {@code Grace.readmit}. */
    static final class CountedAlways {
        @OnMethodEnter
        static void enter(@Argument(value = 0, readOnly = false) int permits) {
            permits = Math.max(permits, 1);
        }
    }

    /** {@code LeasedGrace.isLost}. */
    static final class NotLostInGrace {
        @OnMethodExit
        static void exit(@FieldValue("active") boolean active, @Return(readOnly = false) boolean lost) {
            lost = lost && !active;
        }
    }

    /** {@code LeasedGrace.isDue}: renewals and returns do not see that the claim of another key has found a new server. */
    static final class OnlyGrantsCheck {
        @OnMethodExit
        static void exit(
                @Argument(0) Claim claim, @FieldValue("stored") boolean stored, @Return(readOnly = false) boolean due) {
            due = due && (!stored || claim.counts().wanted() > claim.reclaim().validlyHeld());
        }
    }

    /** {@code LeasedGrace.reclaimable}. */
    static final class ReclaimedAlways {
        @OnMethodExit
        static void exit(@Argument(0) Claim claim, @Return(readOnly = false) int reclaimed) {
            reclaimed = claim.reclaim().validlyHeld();
        }
    }

    /** {@code Lineage.isContinuedBy}. */
    static final class SameRunIsEnough {
        @OnMethodExit
        static void exit(
                @Argument(0) ServerIdentity server,
                @FieldValue("run") String run,
                @Return(readOnly = false) boolean continued) {
            continued = continued || run.equals(server.run());
        }
    }

    /** {@code Lineage.check}. */
    static final class MemoryIgnored {
        @OnMethodEnter
        static void enter(@Argument(value = 1, readOnly = false) long remembered) {
            remembered = 0;
        }
    }

    /** {@code Lineage.open}: the server grants again, and what it has recorded counts. */
    static final class OnlyOpened {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter(
                @Argument(0) long vote,
                @FieldValue(value = "closed", readOnly = false) long closed,
                @FieldValue("closedBy") long closedBy) {
            if (closedBy < vote) {
                closed = 0;
            }
            return true;
        }
    }
}
