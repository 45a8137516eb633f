package io.github.distributedpermit.core;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.concurrent.CancellationException;

/** Turns outcomes into what callers see, and tells the observer. Thread-safe. */
final class CallEnds {

    private final PermitObserver observer;
    private final Lines lines;
    private final String store;

    CallEnds(PermitObserver observer, Lines lines, String address) {
        this.observer = observer;
        this.lines = lines;
        this.store = address.isEmpty() ? "The store of permits" : "The store of permits at " + Text.escape(address);
    }

    /** The permit, or the exception that says why there is none. An error on the way does not keep the permit. */
    Permit permit(NameUse use, PermitRequest request, Waiter waiter, Outcome outcome) {
        if (outcome instanceof Grant grant) {
            try {
                left(use, waiter);
                if (observer != PermitObserver.NONE) {
                    observer.acquired(use.name(), waited(waiter));
                }
            } catch (RuntimeException | Error e) {
                grant.release();
                throw e;
            }
            return grant;
        }
        throw failure(use, request, waiter, outcome);
    }

    /** The permit of a call that did not have to wait at all, for it lay idle here. */
    Permit taken(NameUse use, Grant grant) {
        try {
            lines.handedOver(use, grant.weight);
            observer.acquired(use.name(), Duration.ZERO);
        } catch (RuntimeException | Error e) {
            grant.release();
            throw e;
        }
        return grant;
    }

    /** The call is counted among the waiting. */
    void came(NameUse use, Waiter waiter) {
        if (waiter.queueing) {
            use.waiters.incrementAndGet();
            waiter.gauged = true;
        }
    }

    /** The call is no longer counted among the waiting. */
    void left(NameUse use, Waiter waiter) {
        if (waiter.gauged) {
            waiter.gauged = false;
            use.waiters.decrementAndGet();
        }
    }

    RuntimeException failure(NameUse use, PermitRequest request, Waiter waiter, Outcome outcome) {
        left(use, waiter);
        Duration waited = waited(waiter);
        if (outcome instanceof Outcome.Refused refused) {
            observer.rejected(use.name(), refused.reason(), waited);
            return new PermitRejectedException(
                    use.name(), request.key(), refused.reason(), message(use, request, refused.reason(), waited));
        }
        if (outcome instanceof Outcome.Failed failed) {
            observer.failed(use.name(), waited);
            return new PermitBackendException(
                    "%s failed after %d ms of waiting for permit '%s', key '%s': %s; check the store and its connection settings"
                            .formatted(
                                    store,
                                    waited.toMillis(),
                                    use.name(),
                                    Text.escape(request.key()),
                                    failed.cause().getMessage()),
                    clients(failed.cause()));
        }
        return new CancellationException("The call for permit '" + use.name() + "' was cancelled");
    }

    /** The exception of the store's client; ours, whose message is repeated above, if there is none. */
    private static Throwable clients(Throwable failure) {
        return failure instanceof PermitStoreException ours && ours.getCause() != null ? ours.getCause() : failure;
    }

    private Duration waited(Waiter waiter) {
        return Duration.ofNanos(Math.max(0, lines.now() - waiter.arrival));
    }

    private static String message(NameUse use, PermitRequest request, Reason reason, Duration waited) {
        String what = "permit '%s', key '%s', limit %d".formatted(use.name(), Text.escape(request.key()), use.limit());
        return switch (reason) {
            case LIMIT_REACHED -> "No free permit: " + what + "; try again later or let the call wait";
            case TIMED_OUT ->
                "No permit within " + waited.toMillis() + " ms: " + what + "; raise the limit or the time-out";
            case LINE_FULL ->
                use.policy.maxWaiters() + " calls of this instance wait already: " + what
                        + "; see distributed-permit.max-waiters";
            case ABOVE_LIMIT -> "The call asks for " + request.permits() + " permits, more than there are now: " + what;
            case TOO_MANY_KEYS ->
                "Too many keys in use by this instance: " + what + "; see distributed-permit.max-keys";
            case SHUTTING_DOWN -> "The application is shutting down: " + what;
        };
    }
}
