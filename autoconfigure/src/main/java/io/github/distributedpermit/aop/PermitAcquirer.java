package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.Acquisition;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes the permits of a limited method in their order, on a thread that waits or without one. Thread-safe. */
final class PermitAcquirer {

    private final Supplier<Permits> permits;
    private final NestedCalls nestedCalls = new NestedCalls();
    private final NonBlockingThreads nonBlocking = new NonBlockingThreads();

    PermitAcquirer(Supplier<Permits> permits) {
        this.permits = permits;
    }

    HeldPermits begin() {
        return nestedCalls.begin();
    }

    /** Takes all, or returns the rejection that a fallback answers. */
    @Nullable
    Rejection acquireAll(HeldPermits held, LimitedMethod limited, Object target, @Nullable Object[] arguments)
            throws InterruptedException {
        nonBlocking.refuse(limited);
        for (PermitOperation operation : limited.operations()) {
            PermitRequest request = operation.request(target, limited.method(), arguments);
            nestedCalls.warnIfBlockedByItself(held, operation, request);
            try {
                held.add(operation.held(acquire(operation, request, limited)), operation.interruptOnLoss());
            } catch (PermitRejectedException e) {
                RejectedAnswer instead = operation.answer();
                if (instead == null) {
                    throw e;
                }
                return new Rejection(instead, e);
            }
        }
        held.begin();
        return null;
    }

    /** Begins to take all without blocking the thread. */
    Acquisition acquireAllAsync(LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        List<Acquisition.Step> steps = new ArrayList<>();
        for (PermitOperation operation : limited.operations()) {
            steps.add(new Acquisition.Step(
                    () -> permits.get()
                            .named(operation.definition().name())
                            .acquireAsync(operation.request(target, limited.method(), arguments)),
                    operation::held));
        }
        return Acquisition.start(steps);
    }

    private Permit acquire(PermitOperation operation, PermitRequest request, LimitedMethod limited)
            throws InterruptedException {
        try {
            return permits.get().named(operation.definition().name()).acquire(request);
        } catch (InterruptedException e) {
            if (limited.interruptible()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            String how = e.getMessage() == null ? "Interrupted while waiting for a permit" : e.getMessage();
            throw new PermitInterruptedException(how, e);
        }
    }
}
