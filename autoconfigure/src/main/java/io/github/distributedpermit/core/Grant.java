package io.github.distributedpermit.core;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A permit of a line. Links and {@code counted} are guarded by the lock of the line. */
final class Grant implements Permit, Outcome {

    final NameUse use;
    final int weight;
    final long grantedAt;
    private final KeyLine line;
    private final PermitToken token;
    private final AtomicBoolean released = new AtomicBoolean();

    @Nullable
    Grant previous;

    @Nullable
    Grant next;
    /** Whether the line counts it as in use: neither released nor lost. */
    boolean counted;

    private volatile boolean lost;
    private boolean told;
    private @Nullable List<Runnable> listeners;

    Grant(KeyLine line, NameUse use, int weight, PermitToken token, long grantedAt) {
        this.line = line;
        this.use = use;
        this.weight = weight;
        this.token = token;
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
        return token;
    }

    @Override
    public boolean isHeld() {
        return !lost && !released.get() && line.isValid(this);
    }

    @Override
    public void onLoss(Runnable listener) {
        synchronized (released) {
            if (!told) {
                if (listeners == null) {
                    listeners = new ArrayList<>(1);
                }
                listeners.add(listener);
                return;
            }
        }
        line.host().callback(listener);
    }

    @Override
    public void release() {
        if (released.compareAndSet(false, true)) {
            Future<Void> confirmation = line.release(this);
            line.host().released(this);
            if (confirmation != null) {
                line.host().awaitReturn(confirmation);
            }
        }
    }

    /** Tells the listeners, outside of the line's lock; nobody is told of a permit already released. */
    void tellLost() {
        List<Runnable> due;
        synchronized (released) {
            told = true;
            due = listeners;
            listeners = null;
        }
        if (due != null && !released.get()) {
            due.forEach(line.host()::callback);
        }
    }

    /** Makes {@link #isHeld} false at once, still under the line's lock. */
    void markLost() {
        lost = true;
    }

    @Override
    public String toString() {
        return "Permit[name=" + name() + ", token=" + token + ", held=" + isHeld() + "]";
    }
}
