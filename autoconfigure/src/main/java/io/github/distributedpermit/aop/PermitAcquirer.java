package io.github.distributedpermit.aop;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.Acquisition;
import io.github.distributedpermit.aop.async.PermitBundle;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes the permits of a limited method in their order, on a thread that waits or without one. Thread-safe. */
final class PermitAcquirer {

    private final Supplier<Permits> permits;
    private final NestedCalls nestedCalls = new NestedCalls();
    private final MockedPermits mocks = new MockedPermits();
    private final NonBlockingThreads nonBlocking = new NonBlockingThreads();

    PermitAcquirer(Supplier<Permits> permits) {
        this.permits = permits;
    }

    HeldPermits begin() {
        return nestedCalls.begin();
    }

    /** Takes all, or returns what a fallback answers. */
    @Nullable
    Rejection acquireAll(HeldPermits held, LimitedMethod limited, Object target, @Nullable Object[] arguments)
            throws InterruptedException {
        nonBlocking.refuse(limited);
        List<PermitOperation> operations = limited.operations();
        if (operations.size() == 1) { // as most methods have, so without the plan
            PermitOperation only = operations.get(0);
            Rejection rejection = take(held, only, only.request(target, limited.method(), arguments), limited);
            if (rejection != null) {
                return rejection;
            }
        } else {
            for (PlannedPermit planned : PlannedPermit.of(limited, target, arguments)) {
                Rejection rejection = take(held, planned.operation(), planned.request(), limited);
                if (rejection != null) {
                    return rejection;
                }
            }
        }
        held.begin();
        return null;
    }

    private @Nullable Rejection take(
            HeldPermits held, PermitOperation operation, PermitRequest request, LimitedMethod limited)
            throws InterruptedException {
        nestedCalls.warnIfBlockedByItself(operation, request, "it waits for itself");
        try {
            held.add(operation.held(acquire(held, operation, request, limited)), operation.interruptOnLoss());
            return null;
        } catch (PermitRejectedException | PermitBackendException e) {
            RejectedAnswer instead = operation.answer();
            if (instead == null || !instead.answers(e)) {
                throw e;
            }
            return new Rejection(instead, e);
        }
    }

    /**
     * Begins to take all without blocking the thread.
     *
     * @param outer what the caller holds, for permits that join one of these
     */
    Acquisition acquireAllAsync(
            LimitedMethod limited, Object target, @Nullable Object[] arguments, @Nullable PermitBundle outer) {
        List<PermitStep> steps;
        try {
            Collection<PlannedPermit> plan = PlannedPermit.of(limited, target, arguments);
            if (outer == null) { // otherwise the caller's permits are those of its subscriber
                plan.forEach(planned -> nestedCalls.warnIfBlockedByItself(
                        planned.operation(),
                        planned.request(),
                        "it gets its permit only when the outer method has ended, which must not wait for it"));
            }
            steps = plan.stream()
                    .map(planned -> new PermitStep(planned, permits.get(), mocks, outer, target, arguments))
                    .toList();
        } catch (RuntimeException | Error e) {
            return Acquisition.failed(e);
        }
        return Acquisition.start(steps);
    }

    /** The interrupt as the caller of the method gets it. */
    private static RuntimeException interrupted(InterruptedException e, @Nullable Permit lost, LimitedMethod limited)
            throws InterruptedException {
        String how = e.getMessage() == null ? "Interrupted while waiting for a permit" : e.getMessage();
        if (lost != null) {
            how = "Permit '%s' of this call was lost (onLoss = INTERRUPT). %s".formatted(lost.name(), how);
        }
        if (limited.interruptible()) {
            throw lost == null ? e : (InterruptedException) new InterruptedException(how).initCause(e);
        }
        if (lost == null) {
            Thread.currentThread().interrupt(); // the loss concerns this call only, and not what the thread does next
        }
        return new PermitInterruptedException(how, e);
    }

    private Permit acquire(HeldPermits held, PermitOperation operation, PermitRequest request, LimitedMethod limited)
            throws InterruptedException {
        try {
            NamedPermits named = permits.get().named(operation.definition().name());
            Permit permit = named == null ? null : named.acquire(request);
            return permit == null ? mocks.instead(operation, request) : permit;
        } catch (InterruptedException e) {
            throw interrupted(e, held.lost(), limited);
        }
    }
}
