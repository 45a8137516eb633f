package io.github.distributedpermit.test;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;

/** A permit whose return is noted. Thread-safe. */
final class RecordedPermit implements Permit {

    private final Permit permit;
    private final PermitCall call;
    private final PermitLog log;

    RecordedPermit(Permit permit, PermitCall call, PermitLog log) {
        this.permit = permit;
        this.call = call;
        this.log = log;
    }

    @Override
    public String name() {
        return permit.name();
    }

    @Override
    public String key() {
        return permit.key();
    }

    @Override
    public int permits() {
        return permit.permits();
    }

    @Override
    public PermitToken token() {
        return permit.token();
    }

    @Override
    public boolean isHeld() {
        return permit.isHeld();
    }

    @Override
    public void onLoss(Runnable listener) {
        permit.onLoss(listener);
    }

    /** Noted first: once it is back, another call may have it, and both would count. */
    @Override
    public boolean release() {
        log.released(call);
        return permit.release();
    }

    @Override
    public String toString() {
        return permit.toString();
    }
}
