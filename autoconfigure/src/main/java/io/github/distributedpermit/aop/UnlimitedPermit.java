package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.util.concurrent.atomic.AtomicBoolean;

/** A permit that no store has granted, see {@link UnlimitedPermits}. It is never lost, and all have one token. Thread-safe. */
final class UnlimitedPermit implements Permit {

    private static final PermitToken TOKEN = new PermitToken(0, 0);

    private final String name;
    private final String key;
    private final int permits;
    private final AtomicBoolean released = new AtomicBoolean();

    UnlimitedPermit(String name, String key, int permits) {
        this.name = name;
        this.key = key;
        this.permits = permits;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public int permits() {
        return permits;
    }

    @Override
    public PermitToken token() {
        return TOKEN;
    }

    @Override
    public boolean isHeld() {
        return !released.get();
    }

    @Override
    public void onLoss(Runnable listener) {
        // it cannot be lost
    }

    @Override
    public boolean release() {
        return released.compareAndSet(false, true);
    }
}
