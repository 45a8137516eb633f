package io.github.distributedpermit.core.member;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.CallObserver;

/** Passes everything to an observer of one call, and keeps what that throws from the call. Thread-safe if the observer is. */
final class SafeCallObserver implements CallObserver {

    private final CallObserver target;

    SafeCallObserver(CallObserver target) {
        this.target = target;
    }

    @Override
    public void granted() {
        SafeObserver.safely(target::granted);
    }

    @Override
    public void rejected(Reason reason) {
        SafeObserver.safely(() -> target.rejected(reason));
    }

    @Override
    public void failed(Throwable cause) {
        SafeObserver.safely(() -> target.failed(cause));
    }

    @Override
    public void abandoned() {
        SafeObserver.safely(target::abandoned);
    }

    @Override
    public void lost() {
        SafeObserver.safely(target::lost);
    }

    @Override
    public void released() {
        SafeObserver.safely(target::released);
    }
}
