package io.github.distributedpermit.test;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.PermitCall.Phase;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** See {@link RecordingPermits}. */
final class RecordingNamedPermits implements NamedPermits {

    private final NamedPermits permits;
    private final PermitLog log;

    RecordingNamedPermits(NamedPermits permits, PermitLog log) {
        this.permits = permits;
        this.log = log;
    }

    @Override
    public String name() {
        return permits.name();
    }

    @Override
    public PermitRequest request(String key) {
        return permits.request(key);
    }

    @Override
    public @Nullable PermitDefinition within() {
        return permits.within();
    }

    @Override
    public NamedPermits alone(@Nullable String inner) {
        return new RecordingNamedPermits(permits.alone(inner), log);
    }

    @Override
    public Permit acquire(PermitRequest request) throws InterruptedException {
        return recorded(request, () -> permits.acquire(request));
    }

    @Override
    public Permit acquireUninterruptibly(PermitRequest request) {
        return recorded(request, () -> permits.acquireUninterruptibly(request));
    }

    private <X extends Exception> Permit recorded(PermitRequest request, Wait<X> wait) throws X {
        PermitCall call = log.begin(name(), request);
        try {
            return granted(call, wait.forPermit());
        } catch (PermitRejectedException e) {
            log.ended(call, Phase.REJECTED);
            throw e;
        } finally {
            log.ended(call, Phase.FAILED); // of no effect on a call that has ended
        }
    }

    @FunctionalInterface
    private interface Wait<X extends Exception> {

        Permit forPermit() throws X;
    }

    @Override
    public CompletableFuture<Permit> acquireAsync(PermitRequest request) {
        PermitCall call = log.begin(name(), request);
        CompletableFuture<Permit> asked;
        try {
            asked = permits.acquireAsync(request);
        } catch (RuntimeException | Error e) {
            log.ended(call, Phase.FAILED);
            throw e;
        }
        Recorded recorded = new Recorded(asked);
        asked.whenComplete((permit, failure) -> {
            if (permit == null) {
                log.ended(call, failure instanceof PermitRejectedException ? Phase.REJECTED : Phase.FAILED);
                recorded.completeExceptionally(failure == null ? new CancellationException() : failure);
            } else {
                Permit granted = granted(call, permit);
                if (!recorded.complete(granted)) { // cancelled at that moment
                    granted.release();
                }
            }
        });
        return recorded;
    }

    private Permit granted(PermitCall call, Permit permit) {
        if (isOfOuterCall(permit)) {
            log.ended(call, Phase.JOINED);
            return permit;
        }
        log.granted(call);
        return new RecordedPermit(permit, call, log);
    }

    /** A reentrant call joins a permit that is counted already. */
    private static boolean isOfOuterCall(Permit permit) {
        return Permits.current(permit.name())
                .filter(outer ->
                        outer.key().equals(permit.key()) && outer.token().equals(permit.token()))
                .isPresent();
    }

    @Override
    public CompletableFuture<PermitState> stateAsync(String key) {
        return permits.stateAsync(key);
    }

    /** Ends as the call does; cancelling it cancels the call. */
    private static final class Recorded extends CompletableFuture<Permit> {

        private final CompletableFuture<Permit> call;

        Recorded(CompletableFuture<Permit> call) {
            this.call = call;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean cancelled = super.cancel(mayInterruptIfRunning);
            call.cancel(mayInterruptIfRunning);
            return cancelled;
        }

        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
