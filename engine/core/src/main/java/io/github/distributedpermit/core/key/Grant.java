package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.Caller;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A permit that a call has been granted: the {@link Permit} that users hold, and at the same time the {@link Outcome} of the
 * call that waited for it. It knows the queue that it came from only as its {@link Owner}.
 *
 * <p>The methods of {@link Permit} are thread-safe. The fields that are not volatile, which are the links, {@code counted},
 * {@code ended} and {@code gauged}, are guarded by the lock of the queue.
 */
public final class Grant extends ObservedCall implements Permit, Outcome {

    private static final AtomicIntegerFieldUpdater<Grant> RELEASED =
            AtomicIntegerFieldUpdater.newUpdater(Grant.class, "released");
    private static final AtomicReferenceFieldUpdater<Grant, @Nullable LossListeners> LISTENERS =
            AtomicReferenceFieldUpdater.newUpdater(Grant.class, LossListeners.class, "listeners");

    /** The version of permits that no store has recorded. Those of stores begin with 1. */
    static final long STORELESS = 0;

    public final long grantedAt;
    private final Owner owner;
    private final long version;
    private final long count;

    @Nullable
    Grant previous;

    @Nullable
    Grant next;

    /** The group that its permits count in; {@code null} if there is none. */
    @Nullable
    FairGroup<?> group;

    /** Whether the queue counts it as in use: neither released nor lost. */
    boolean counted;

    /** Whether its call has ended. Set before anything else happens, so that no error can undo it. */
    boolean ended;

    /** Whether the numbers for the observer count it. */
    private boolean gauged;

    /** Whether those of its name alone count it too. */
    private boolean gaugedAlone;

    private volatile @Nullable LossCause lost;
    private volatile int released;
    private volatile @Nullable LossListeners listeners;

    Grant(Owner owner, PermitName permit, int weight, long version, long count, long grantedAt) {
        super(permit, weight);
        this.owner = owner;
        this.version = version;
        this.count = count;
        this.grantedAt = grantedAt;
    }

    /** Whether no store had recorded it when the call got it, see {@link UnlimitedGrants} and {@link OutageCalls}. */
    public boolean isStoreless() {
        return version == STORELESS;
    }

    /** Whether the call got it because the store did not answer. */
    public boolean isOfOutage() {
        return version == STORELESS && owner.isOfOutage();
    }

    Owner owner() {
        return owner;
    }

    @Override
    public String key() {
        return owner.key();
    }

    @Override
    public PermitToken token() {
        return new PermitToken(version, count);
    }

    @Override
    public boolean isHeld() {
        return lost == null && released == 0 && owner.isValid(this);
    }

    @Override
    public void onLoss(Runnable listener) {
        LossListeners known = listeners;
        while (known != LossListeners.NOTIFIED) {
            if (LISTENERS.compareAndSet(this, known, new LossListeners(listener, known))) {
                return;
            }
            known = listeners;
        }
        owner.notice(() -> LossListeners.notify(listener));
    }

    @Override
    public boolean release() {
        boolean valid;
        try {
            valid = isHeld();
        } catch (RuntimeException | Error e) {
            valid = false; // The return of the permit must not depend on the answer: the stack may be full here.
        }
        return owner.release(this) && valid;
    }

    /** Without a look at the clock. */
    @Override
    public void close() {
        owner.release(this);
    }

    /** The call has ended. The caller holds the lock of the queue. */
    void showEnd() {
        // a plain ordered write is enough: isHeld() also asks the queue under its lock, which sees the end at once
        RELEASED.lazySet(this, 1);
    }

    /**
     * Adds the permits to the numbers of the name, unless they are counted already. Each number has its flag, so that an error
     * between the two leaves none of them wrong.
     */
    void gauge() {
        if (!gauged) {
            permit.counts.holders.addAndGet(weight);
            gauged = true;
        }
        if (!gaugedAlone && permit.ownCounts != permit.counts) {
            permit.ownCounts.holders.addAndGet(weight);
            gaugedAlone = true;
        }
    }

    /** Takes the permits off the numbers of the name, if they are counted. */
    void ungauge() {
        if (gauged) {
            permit.counts.holders.addAndGet(-weight);
            gauged = false;
        }
        if (gaugedAlone) {
            permit.ownCounts.holders.addAndGet(-weight);
            gaugedAlone = false;
        }
    }

    @Override
    public boolean isLost() {
        return lost != null;
    }

    @Override
    public boolean isTaken() {
        return lost == LossCause.TAKEN;
    }

    /** Why it was lost; {@code null} if it was not. */
    public @Nullable LossCause lossCause() {
        return lost;
    }

    /** Whether the call has ended. */
    public boolean isReleased() {
        return released != 0;
    }

    @Override
    CallView.Place place() {
        Caller made = caller;
        if (made != null && made.atWork().test(this)) {
            return CallView.Place.ON_THREAD;
        }
        return asynchronous ? CallView.Place.ELSEWHERE : CallView.Place.UNKNOWN;
    }

    /** What operators see of the call, which has run without its permits since then. */
    public CallView viewLost(long since, long now) {
        return view(CallView.State.LOST, since, now);
    }

    /**
     * Has the listeners to the loss called. The caller does not hold the lock of the queue. A permit that has been released
     * is no loss to its call, so its listeners are not called.
     */
    void notifyLost() {
        LossListeners due = LISTENERS.getAndSet(this, LossListeners.NOTIFIED);
        if (due != null && released == 0) {
            owner.notice(due::notifyAllInOrder);
        }
    }

    /** Makes {@link #isHeld} false at once. The caller holds the lock of the queue. */
    void markLost(LossCause cause) {
        lost = cause;
    }

    @Override
    public String toString() {
        return "Permit[name=" + name() + ", token=" + token() + ", held=" + isHeld() + "]";
    }

    /** What a grant needs of the queue of its key. */
    interface Owner {

        /** The key of the queue. */
        String key();

        /** Whether a confirmed claim, or a confirmed session, still covers the grant. */
        boolean isValid(Grant grant);

        /** Whether it has granted the permit because the store did not answer. */
        default boolean isOfOutage() {
            return false;
        }

        /** Takes the grant back; {@code false} if it was taken back before or was lost. Has no effect the second time. */
        boolean release(Grant grant);

        /** Runs a listener to the loss, on a thread for that purpose. */
        void notice(Runnable task);
    }
}
