package io.github.distributedpermit.core.call;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.LogSafe;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitStats;
import io.github.distributedpermit.core.key.Waiter;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.spi.CallObserver;
import io.github.distributedpermit.spi.CallerSource;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitObserver.Via;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Turns the {@link Outcome} of a call into what its caller sees, a permit or an exception, counts the call in the gauges and
 * notifies the observer. Thread-safe.
 */
public final class Outcomes {

    private final CoreEnvironment environment;
    private final PermitObserver observer;
    private final KeyRegistry registry;
    private final String store;
    private volatile CallerSource callers = CallerSource.NONE;

    public Outcomes(CoreEnvironment environment, KeyRegistry registry, String address) {
        this.environment = environment;
        this.observer = environment.observer();
        this.registry = registry;
        this.store = address.isEmpty() ? "The store of permits" : "The store of permits at " + LogSafe.escape(address);
    }

    /** From now on calls are recorded with what this source says. */
    public void describeCallersBy(CallerSource source) {
        callers = source;
    }

    /** The permit, or an exception that says why there is none. If this fails, the permit goes back. */
    Permit permit(PermitStats stats, PermitRequest request, Waiter waiter, Outcome outcome) {
        if (outcome instanceof Grant grant) {
            try {
                left(stats, waiter);
                grant.caller = waiter.caller;
                CallObserver call = ending(waiter);
                if (call != null) {
                    try {
                        call.granted();
                    } finally {
                        grant.follow(call); // after it was notified of the grant, which a loss must not precede
                    }
                    grant.observeLoss();
                }
                if (environment.isObserved()) {
                    observer.acquired(stats.observedName(), grant.weight, via(grant, waiter), waited(waiter));
                }
            } catch (RuntimeException | Error e) {
                grant.release();
                throw e;
            }
            return grant;
        }
        throw failure(stats, request, waiter, outcome);
    }

    private static Via via(Grant grant, Waiter waiter) {
        if (grant.isStoreless()) {
            return grant.isOfOutage() ? Via.OUTAGE : Via.WITHOUT_STORE;
        }
        return waiter.wasHandedOver() ? Via.HAND_OVER : Via.STORE;
    }

    /** The permit of a call that did not have to wait, because a permit was idle in this process or needs no claim. */
    Permit taken(PermitStats stats, Grant grant) {
        try {
            grant.caller = callers.current();
            CallObserver call = environment.arrived(stats, grant.key(), grant.weight, false);
            if (call != null) {
                try {
                    call.granted();
                } finally {
                    grant.follow(call);
                }
                grant.observeLoss();
            }
            Via via = grant.isStoreless() ? Via.WITHOUT_STORE : Via.HAND_OVER;
            observer.acquired(stats.observedName(), grant.weight, via, Duration.ZERO);
        } catch (RuntimeException | Error e) {
            grant.release();
            throw e;
        }
        return grant;
    }

    /** The call is counted among the waiting. Runs on its own thread. */
    void arrived(PermitStats stats, PermitRequest request, Waiter waiter) {
        waiter.caller = callers.current();
        waiter.observer = environment.arrived(stats, request.key(), request.permits(), true);
        if (waiter.queueing) {
            stats.counts.arrived();
            waiter.gauged = true;
            if (stats.ownCounts != stats.counts) {
                stats.ownCounts.arrived();
                waiter.gaugedAlone = true;
            }
        }
    }

    /** The call is no longer counted among the waiting. */
    void left(PermitStats stats, Waiter waiter) {
        if (waiter.gauged) {
            stats.counts.left();
            waiter.gauged = false; // last: if the stack is full above, who calls this again further up does it
        }
        if (waiter.gaugedAlone) {
            stats.ownCounts.left();
            waiter.gaugedAlone = false;
        }
    }

    /** The caller has given up, by an interrupt, a cancellation or an error. Has no effect once the outcome was observed. */
    void abandoned(PermitStats stats, Waiter waiter) {
        left(stats, waiter);
        CallObserver call = ending(waiter);
        if (call != null) {
            call.abandoned();
        }
        if (environment.isObserved()) {
            observer.abandoned(stats.observedName(), waited(waiter));
        }
    }

    /** An error ended the call: what follows it is notified, unless it was before. */
    void dropped(Waiter waiter) {
        CallObserver call = ending(waiter);
        if (call != null) {
            call.abandoned();
        }
    }

    /** The exception for a call that got no permit. */
    RuntimeException failure(PermitStats stats, PermitRequest request, Waiter waiter, Outcome outcome) {
        left(stats, waiter);
        Duration waited = waited(waiter);
        if (outcome instanceof Outcome.Refused refused) {
            CallObserver call = ending(waiter);
            if (call != null) {
                call.rejected(refused.reason());
            }
            observer.rejected(stats.observedName(), refused.reason(), waited);
            return new PermitRejectedException(
                    stats.name(), request.key(), refused.reason(), message(stats, request, refused.reason(), waited));
        }
        if (outcome instanceof Outcome.Failed failed) {
            CallObserver call = ending(waiter);
            if (call != null) {
                call.failed(failed.cause());
            }
            observer.failed(stats.observedName(), waited);
            return new PermitBackendException(
                    "%s failed after %d ms of waiting for permit '%s', key '%s': %s; check the store and its connection settings"
                            .formatted(
                                    store,
                                    waited.toMillis(),
                                    stats.name(),
                                    LogSafe.escape(request.key()),
                                    failed.cause().getMessage()),
                    clients(failed.cause()));
        }
        abandoned(stats, waiter);
        return new CancellationException("The call for permit '" + stats.name() + "' was cancelled");
    }

    /** The observer of the call, which is notified of its outcome once. */
    private static @Nullable CallObserver ending(Waiter waiter) {
        CallObserver call = waiter.observer;
        if (call != null) {
            waiter.observer = null;
        }
        return call;
    }

    /** The exception of the store's client; the library's own one, whose message is repeated above, if there is none. */
    private static Throwable clients(Throwable failure) {
        return failure instanceof PermitStoreException ours && ours.getCause() != null ? ours.getCause() : failure;
    }

    private Duration waited(Waiter waiter) {
        return Duration.ofNanos(Math.max(0, registry.now() - waiter.arrival));
    }

    private String message(PermitStats stats, PermitRequest request, Reason reason, Duration waited) {
        String what = "permit '%s', key '%s', limit %d%s"
                .formatted(
                        stats.name(),
                        LogSafe.escape(request.key()),
                        stats.limit(),
                        registry.isBypassed()
                                ? " (the store does not answer, so this instance grants only its share)"
                                : "");
        return switch (reason) {
            case LIMIT_REACHED -> "No free permit: " + what + "; try again later or let the call wait";
            case TIMED_OUT ->
                "No permit within " + waited.toMillis() + " ms: " + what + "; raise the limit or the time-out";
            case QUEUE_FULL ->
                stats.policy().maxWaiters() + " calls of this instance wait already: " + what
                        + "; see distributed-permit.max-waiters";
            case ABOVE_LIMIT -> "The call asks for " + request.permits() + " permits, more than there are now: " + what;
            case TOO_MANY_KEYS ->
                "Too many keys in use by this instance: " + what + "; see distributed-permit.max-keys";
            case SHUTTING_DOWN -> "The application is shutting down: " + what;
        };
    }
}
