package io.github.distributedpermit.core;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A permit of a line. Links and {@code counted} are guarded by the lock of the line. */
final class Grant implements Permit, Outcome {

    private static final AtomicIntegerFieldUpdater<Grant> RELEASED =
            AtomicIntegerFieldUpdater.newUpdater(Grant.class, "released");
    private static final AtomicReferenceFieldUpdater<Grant, @Nullable LossListeners> LISTENERS =
            AtomicReferenceFieldUpdater.newUpdater(Grant.class, LossListeners.class, "listeners");

    final NameUse use;
    final int weight;
    final long grantedAt;
    private final KeyLine line;
    private final long version;
    private final long count;

    @Nullable
    Grant previous;

    @Nullable
    Grant next;
    /** Whether the line counts it as in use: neither released nor lost. */
    boolean counted;
    /** Whether its call has ended. Set before anything else happens, so that no error can undo it. */
    boolean ended;
    /** Whether the gauge of its name counts it. */
    private boolean gauged;

    private volatile boolean lost;
    private volatile int released;
    private volatile @Nullable LossListeners listeners;

    Grant(KeyLine line, NameUse use, int weight, long version, long count, long grantedAt) {
        this.line = line;
        this.use = use;
        this.weight = weight;
        this.version = version;
        this.count = count;
        this.grantedAt = grantedAt;
    }

    @Override
    public String name() {
        return use.name();
    }

    @Override
    public String key() {
        return line.key();
    }

    @Override
    public int permits() {
        return weight;
    }

    @Override
    public PermitToken token() {
        return new PermitToken(version, count);
    }

    @Override
    public boolean isHeld() {
        return !lost && released == 0 && line.isValid(this);
    }

    @Override
    public void onLoss(Runnable listener) {
        LossListeners known = listeners;
        while (known != LossListeners.TOLD) {
            if (LISTENERS.compareAndSet(this, known, new LossListeners(listener, known))) {
                return;
            }
            known = listeners;
        }
        line.host().notice(() -> LossListeners.tell(listener));
    }

    @Override
    public void release() {
        line.release(this);
    }

    /** Its call has ended; under the lock of the line. */
    void showEnd() {
        RELEASED.lazySet(this, 1); // the lock makes it visible to who asks the line; others may see it a little later
    }

    /** The gauge of its name counts it, once. */
    void gauge() {
        if (!gauged) {
            use.holders.addAndGet(weight);
            gauged = true;
        }
    }

    /** The gauge of its name counts it no more. */
    void ungauge() {
        if (gauged) {
            use.holders.addAndGet(-weight);
            gauged = false;
        }
    }

    boolean isLost() {
        return lost;
    }

    /** Tells the listeners, outside of the line's lock; nobody is told of a permit already released. */
    void tellLost() {
        LossListeners due = LISTENERS.getAndSet(this, LossListeners.TOLD);
        if (due != null && released == 0) {
            line.host().notice(due::tell);
        }
    }

    /** Makes {@link #isHeld} false at once, still under the line's lock. */
    void markLost() {
        lost = true;
    }

    @Override
    public String toString() {
        return "Permit[name=" + name() + ", token=" + token() + ", held=" + isHeld() + "]";
    }
}
