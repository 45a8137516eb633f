package io.github.distributedpermit.core.key;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.core.key.Outcome.Refused;
import io.github.distributedpermit.spi.CallView;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call that asks for permits, from its arrival to its {@link Outcome}. The outcome is decided by one compare-and-set,
 * either by the queue that grants or by the caller that gives up. So a permit that is granted at the moment of a time-out
 * goes either to the caller or to the next waiter, and is never lost.
 *
 * <p>{@link #decide} and {@link #outcome} are thread-safe. All other mutable fields are guarded by the lock of the
 * {@link KeyQueue}, but {@code gauged}.
 */
public class Waiter extends ObservedCall {

    /** No claim has been sent since the call arrived. */
    static final long UNCLAIMED = -1;

    private static final AtomicReferenceFieldUpdater<Waiter, @Nullable Outcome> OUTCOME =
            AtomicReferenceFieldUpdater.newUpdater(Waiter.class, Outcome.class, "outcome");

    private final String key;

    /** Whether the caller is willing to wait for a permit. */
    public final boolean mayWait;

    /** Whether it leaves the queue when one claim has been answered: it is not willing to wait, or a shutdown does not let it. */
    boolean isTry;

    /** When the call arrived, on the clock of the process. */
    public final long arrival;

    /** Its place in the queue: when it would have arrived without its head start. */
    long queuedAt;

    /** When its time-out ends, on the clock of the process. */
    public long deadline = Long.MAX_VALUE;

    /** The limit that the key has for this call, as long as the settings leave limits to the calls. */
    public int limit;

    /** The group that the call counts in; {@code null} if it has none. */
    public @Nullable String fairBy;

    /** How many times as many permits its group may have as one with the weight 1. */
    public int fairWeight = 1;

    /** That group, once the call is queued. */
    @Nullable
    FairGroup<Waiter> group;

    /** How many calls that had arrived before it are behind it, since it has a head start. Read by its own thread once it is queued. */
    public int overtaken;

    private final Waker waker;

    /** What happens to the call while the store does not answer. */
    final OnStoreFailure onStoreFailure;

    @Nullable
    Waiter previous;

    @Nullable
    Waiter next;

    @Nullable
    Waiter previousInGroup;

    @Nullable
    Waiter nextInGroup;

    boolean inQueue;

    /** Whether a claim that was sent after the call arrived was answered without a permit for it. */
    boolean hasToWait;

    /** The name that the call has a permit of already, which lies within this one; {@code null} if there is none. */
    public @Nullable String inner;

    /** Whether the gauge of its name counts it. Written only by the thread that makes or ends the call. */
    public boolean gauged;

    /** The same for the numbers of its name alone, if the gauge is that of a pattern. */
    public boolean gaugedAlone;

    /** Whether its permit came from another call of this process. Set before the outcome is decided. */
    private boolean handedOver;

    /** Whether observers know of the call and not yet of its end. Written only by the thread that makes or ends the call. */
    public boolean observed;

    /** The sequence of the first claim that was sent after the call arrived. */
    long firstClaim = UNCLAIMED;

    /** That of the first one of these that stated the limit of the call. */
    long ownClaim = UNCLAIMED;

    private volatile @Nullable Outcome outcome;

    /** A call for which the settings of its name say what happens to it while the store does not answer. */
    public Waiter(PermitName permit, String key, int weight, boolean mayWait, long arrival, Waker waker) {
        this(permit, key, weight, mayWait, arrival, waker, OnStoreFailure.DEFAULT);
    }

    public Waiter(
            PermitName permit,
            String key,
            int weight,
            boolean mayWait,
            long arrival,
            Waker waker,
            OnStoreFailure onStoreFailure) {
        super(permit, weight);
        this.onStoreFailure =
                onStoreFailure == OnStoreFailure.DEFAULT ? permit.policy().onStoreFailure() : onStoreFailure;
        this.key = key;
        this.mayWait = mayWait;
        this.isTry = !mayWait;
        this.arrival = arrival;
        this.queuedAt = arrival;
        this.limit = permit.policy().limit();
        this.waker = waker;
    }

    /**
     * Gives the call a head start, before it enters a queue. One that does not wait has no use for it.
     *
     * @param nanos from 0 to an hour, which the request and the definition check: a place in the future would be no age for a claim
     */
    public void startAhead(long nanos) {
        if (mayWait) {
            queuedAt = arrival - nanos;
        }
    }

    boolean hasHeadStart() {
        return queuedAt != arrival;
    }

    @Override
    public final String key() {
        return key;
    }

    @Override
    public final boolean isLost() {
        return false; // there is nothing to lose yet
    }

    @Override
    final CallView.Place place() {
        return asynchronous ? CallView.Place.ELSEWHERE : CallView.Place.ON_THREAD;
    }

    /** Whether the call can get its permit only from the store. */
    boolean needsStore() {
        return onStoreFailure == OnStoreFailure.FAIL;
    }

    /** Whether the call runs without the store at once, however many others run. */
    boolean runsAtOnce() {
        return onStoreFailure == OnStoreFailure.ALLOW;
    }

    /**
     * Whether the call may be the next one that is served.
     *
     * @param least one with a lower limit is passed over
     * @param lenientOnly whether one that needs the store is passed over
     */
    boolean mayBeNext(int least, boolean lenientOnly) {
        return limit >= least && !(lenientOnly && needsStore());
    }

    /** Decides the outcome. {@code false} if it is decided already; exactly one thread gets {@code true}. */
    public boolean decide(Outcome value) {
        return OUTCOME.compareAndSet(this, null, value);
    }

    /** Ends the wait with this outcome, unless it is decided already. */
    void end(Outcome value, Effects effects) {
        if (decide(value)) {
            effects.ended(this, value);
        }
    }

    /** Ends the wait with a rejection, unless it is decided already. */
    void refuse(Reason reason, Effects effects) {
        end(new Refused(reason), effects);
    }

    /** Decides that the call gets this permit. {@code false} if its outcome is decided already. */
    boolean grant(Grant value, boolean fromCall) {
        handedOver = fromCall;
        value.takeOver(this);
        return decide(value);
    }

    /** Whether the permit that the call got came from another call of this process. */
    public boolean wasHandedOver() {
        return handedOver;
    }

    /** The outcome; {@code null} while the call waits. */
    @Nullable
    public Outcome outcome() {
        return outcome;
    }

    /** Whether a claim that was sent after the call arrived is among the confirmed ones. */
    boolean wasClaimedBy(long confirmed) {
        return firstClaim != UNCLAIMED && firstClaim <= confirmed;
    }

    /** The same for a claim that stated the limit of the call. */
    boolean wasTriedBy(long confirmed) {
        return ownClaim != UNCLAIMED && ownClaim <= confirmed;
    }

    /**
     * Whether the call precedes an earlier one, since its group uses fewer permits by weight. Groups that use the same take turns: an
     * instance with one permit serves them in a circle.
     */
    boolean isFairBefore(Waiter earlier) {
        FairGroup<Waiter> mine = group;
        FairGroup<Waiter> others = earlier.group;
        if (mine == null || others == null || mine == others) {
            return false;
        }
        long more = (long) mine.inUse * earlier.fairWeight - (long) others.inUse * fairWeight;
        return more < 0 || (more == 0 && mine.turn < others.turn);
    }

    /** Notifies the caller. Called without any lock, perhaps more than once. */
    void wake(Outcome value) {
        waker.wake(value);
    }

    /** How a caller is notified of its outcome: unparked, or its future completed. Must not block. */
    public interface Waker {
        void wake(Outcome outcome);
    }
}
