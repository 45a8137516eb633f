package io.github.distributedpermit.core.call;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.key.Admission;
import io.github.distributedpermit.core.key.Grant;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Waiter;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.CallerSource;
import io.github.distributedpermit.spi.PermitObserver.Via;
import io.github.distributedpermit.spi.PermitProperty;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Turns the {@link Outcome} of a call into what its caller sees, a permit or an exception, counts the call in the gauges and
 * notifies the observers. Thread-safe.
 */
public final class Outcomes {

    private final Observers observers;
    private final KeyRegistry registry;
    private final String store;
    private volatile CallerSource callers = CallerSource.NONE;

    public Outcomes(Observers observers, KeyRegistry registry, String address) {
        this.observers = observers;
        this.registry = registry;
        this.store = address.isEmpty() ? "The store of permits" : "The store of permits at " + LogSafe.escape(address);
    }

    /** From now on calls are recorded with what this source says. */
    public void describeCallersBy(CallerSource source) {
        callers = source;
    }

    /** The permit, or an exception that says why there is none. If this fails, the permit goes back. */
    Permit permit(PermitName permit, PermitRequest request, Waiter waiter, Outcome outcome) {
        if (outcome instanceof Grant grant) {
            try {
                left(permit, waiter);
                grant.asynchronous = waiter.asynchronous;
                grant.caller = waiter.caller;
                if (ends(waiter)) {
                    Via via = via(grant, waiter.wasHandedOver());
                    Duration waited = waited(waiter);
                    observers.each(each -> each.acquired(grant, via, waited));
                }
            } catch (RuntimeException | Error e) {
                grant.release();
                throw e;
            }
            return grant;
        }
        throw failure(permit, request, waiter, outcome);
    }

    private static Via via(Grant grant, boolean handedOver) {
        if (grant.isStoreless()) {
            return grant.isOfOutage() ? Via.OUTAGE : Via.WITHOUT_STORE;
        }
        return handedOver ? Via.HAND_OVER : Via.STORE;
    }

    /** What is recorded of who makes the present call. */
    @Nullable
    Caller caller(PermitRequest request) {
        return callers.current(request.calledBy());
    }

    /** Whether observers are notified of calls now. */
    boolean areFollowed() {
        return observers.followCalls();
    }

    /** Observers are notified of a call that did not have to wait, because a permit was idle in this process or needs no claim. */
    Permit taken(Grant grant) {
        try {
            Via via = via(grant, true);
            observers.each(each -> each.arrived(grant, false));
            observers.each(each -> each.acquired(grant, via, Duration.ZERO));
        } catch (RuntimeException | Error e) {
            grant.release();
            throw e;
        }
        return grant;
    }

    /** The call is counted among the waiting. Runs on its own thread. */
    void arrived(PermitName permit, Waiter waiter) {
        if (observers.followCalls()) {
            waiter.observed = true;
            observers.each(each -> each.arrived(waiter, true));
        }
        if (waiter.mayWait) {
            permit.counts.arrived();
            waiter.gauged = true;
            if (permit.ownCounts != permit.counts) {
                permit.ownCounts.arrived();
                waiter.gaugedAlone = true;
            }
        }
    }

    /** A head start has put the call before others. */
    void overtook(Waiter waiter) {
        observers.each(each -> each.overtook(waiter, waiter.overtaken));
    }

    /** The call is no longer counted among the waiting. */
    void left(PermitName permit, Waiter waiter) {
        if (waiter.gauged) {
            permit.counts.left();
            waiter.gauged = false; // last: if the stack is full above, who calls this again further up does it
        }
        if (waiter.gaugedAlone) {
            permit.ownCounts.left();
            waiter.gaugedAlone = false;
        }
    }

    /** The caller has given up, by an interrupt, a cancellation or an error. Has no effect once the outcome was observed. */
    void abandoned(PermitName permit, Waiter waiter) {
        left(permit, waiter);
        if (ends(waiter)) {
            Duration waited = waited(waiter);
            observers.each(each -> each.abandoned(waiter, waited));
        }
    }

    /** The exception for a call that got no permit. */
    RuntimeException failure(PermitName permit, PermitRequest request, Waiter waiter, Outcome outcome) {
        left(permit, waiter);
        Duration waited = waited(waiter);
        if (outcome instanceof Outcome.Refused refused) {
            Reason reason = refused.reason();
            if (ends(waiter)) {
                observers.each(each -> each.rejected(waiter, reason, waited));
            }
            return new PermitRejectedException(
                    permit.name(), request.key(), reason, message(permit, request, reason, waited));
        }
        if (outcome instanceof Outcome.Failed failed) {
            Throwable cause = failed.cause();
            if (ends(waiter)) {
                observers.each(each -> each.failed(waiter, cause, waited));
            }
            return new PermitBackendException(
                    "%s failed after %d ms of waiting for permit '%s', key '%s': %s; check the store and its connection settings"
                            .formatted(
                                    store,
                                    waited.toMillis(),
                                    permit.name(),
                                    LogSafe.escape(request.key()),
                                    cause.getMessage()),
                    clients(cause));
        }
        abandoned(permit, waiter);
        return new CancellationException("The call for permit '" + permit.name() + "' was cancelled");
    }

    /** Whether observers have to be notified of the outcome of the call, once. */
    private static boolean ends(Waiter waiter) {
        boolean observed = waiter.observed;
        waiter.observed = false;
        return observed;
    }

    /** The exception of the store's client; the library's own one, whose message is repeated above, if there is none. */
    private static Throwable clients(Throwable failure) {
        return failure instanceof PermitStoreException ours && ours.getCause() != null ? ours.getCause() : failure;
    }

    private Duration waited(Waiter waiter) {
        return Duration.ofNanos(Math.max(0, registry.now() - waiter.arrival));
    }

    /** In effect for this key: other keys of the name may have one of an operator. */
    private int limit(PermitName permit, PermitRequest request) {
        Integer stated = permit.policy().isPerCall() ? request.limit() : null;
        return registry.limitInForce(
                request.key(), stated == null ? permit.policy().limit() : stated);
    }

    private String message(PermitName permit, PermitRequest request, Reason reason, Duration waited) {
        boolean paused = registry.pause(permit) == PauseState.PAUSED;
        String what = "permit '%s', key '%s', limit %d%s%s"
                .formatted(
                        permit.name(),
                        LogSafe.escape(request.key()),
                        paused ? 0 : limit(permit, request),
                        paused ? " (an operator has paused all calls of the permit or of the application)" : "",
                        registry.watch().isBypassed()
                                ? " (the store does not answer, so this instance grants only its share)"
                                : "");
        return switch (reason) {
            case LIMIT_REACHED -> "No free permit: " + what + "; try again later or let the call wait";
            case TIMED_OUT ->
                "No permit within " + waited.toMillis() + " ms: " + what + "; raise the limit or the time-out";
            case WOULD_TIME_OUT ->
                "No permit within the call's time-out is possible, because of the calls that wait before it: " + what
                        + "; raise the limit or the time-out";
            case QUEUE_FULL ->
                permit.policy().maxWaiting() + " calls of this instance wait already: " + what + "; see "
                        + PermitProperty.of(permit.name(), "max-waiting");
            case ABOVE_LIMIT -> "The call asks for " + request.permits() + " permits, more than there are now: " + what;
            case TOO_MANY_KEYS ->
                "Too many keys in use by this instance: " + what + "; use fewer different keys at once";
            case SHUTTING_DOWN ->
                (registry.admission() == Admission.NONE
                                ? "This instance takes no more permits, because an operator has drained it or it has left the store: "
                                : "The application is shutting down: ")
                        + what;
        };
    }
}
