package io.github.distributedpermit.test;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;

/** A permit whose return is noted. Thread-safe. */
final class RecordedPermit implements PermitContext.Wrapper {

    private final Permit permit;
    private final PermitCall call;
    private final PermitLog log;

    RecordedPermit(Permit permit, PermitCall call, PermitLog log) {
        this.permit = permit;
        this.call = call;
        this.log = log;
    }

    @Override
    public Permit wrapped() {
        return permit;
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
