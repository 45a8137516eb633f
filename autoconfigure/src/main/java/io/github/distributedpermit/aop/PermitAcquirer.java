package io.github.distributedpermit.aop;

import io.github.distributedpermit.AllOrNothing;
import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.Acquisition;
import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.PermitBundle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes the permits of a limited method, on a thread that waits or without one. Thread-safe. */
final class PermitAcquirer {

    private final Supplier<Permits> permits;
    private final NestedCalls nestedCalls = new NestedCalls();

    PermitAcquirer(Supplier<Permits> permits) {
        this.permits = permits;
    }

    HeldPermits begin() {
        return new HeldPermits(PermitContext.open());
    }

    /** Takes all, or returns what answers the call instead. */
    @Nullable
    Rejection acquireAll(HeldPermits held, LimitedMethod limited, Object target, @Nullable Object[] arguments)
            throws InterruptedException {
        NonBlockingThreads.refuse(limited);
        try {
            Permits all = permits.get();
            List<PermitOperation> operations = limited.operations();
            NamedPermits only = operations.size() == 1
                    ? all.named(operations.get(0).definition().name())
                    : null;
            Rejection rejection = only != null && only.within() == null // as most methods have, so without a plan
                    ? acquireOne(held, only, operations.get(0), limited, target, arguments)
                    : acquireSeveral(held, new PermitPlan(all, limited, target, arguments));
            if (rejection == null) {
                held.begin();
            }
            return rejection;
        } catch (InterruptedException e) {
            throw interrupted(e, held.lost(), limited);
        }
    }

    private @Nullable Rejection acquireOne(
            HeldPermits held,
            NamedPermits named,
            PermitOperation operation,
            LimitedMethod limited,
            Object target,
            @Nullable Object[] arguments)
            throws InterruptedException {
        PermitRequest request = operation.request(target, limited.method(), arguments);
        nestedCalls.warnIfBlockedByItself(operation.definition(), request, "it waits for itself");
        try {
            Permit permit = named.acquire(request);
            try {
                held.add(operation.held(permit));
            } catch (Error e) { // the heap or the stack is full
                permit.close();
                throw e;
            }
            if (operation.interruptOnLoss()) {
                held.interruptOnLoss(permit);
            }
            return null;
        } catch (PermitRejectedException | PermitBackendException e) {
            return Rejection.of(operation.answerTo(e), e);
        }
    }

    private @Nullable Rejection acquireSeveral(HeldPermits held, PermitPlan plan) throws InterruptedException {
        List<PermitRequest> requests = plan.requests();
        warnIfBlockedByItself(plan, "it waits for itself");
        AllOrNothing call = plan.call();
        try {
            PermitGroup group = call.acquire(permit -> {
                if (plan.interruptsOnLoss(requests.get(call.last()))) {
                    held.interruptOnLoss(permit);
                }
            });
            hold(plan, requests, group, held::add);
            return null;
        } catch (PermitRejectedException | PermitBackendException e) {
            return Rejection.of(plan.answer(requests.get(call.last()), e), e);
        }
    }

    /**
     * Begins to take all without blocking the thread.
     *
     * @param outer what the caller holds, for permits that join one of these
     */
    Acquisition acquireAllAsync(
            LimitedMethod limited, Object target, @Nullable Object[] arguments, @Nullable PermitBundle outer) {
        try {
            PermitPlan plan = new PermitPlan(permits.get(), limited, target, arguments);
            List<PermitRequest> requests = plan.requests();
            if (outer == null) { // otherwise the caller's permits are those of its subscriber
                warnIfBlockedByItself(
                        plan, "it gets its permit only when the outer method has ended, which must not wait for it");
            }
            AllOrNothing call = outer == null
                    ? plan.call()
                    : plan.call().joining(request -> request.reentrant() ? outer.join(request) : null);
            return new Acquisition(
                    call.acquireAsync(ContextCapture::ofThread),
                    group -> {
                        List<Permit> held = new ArrayList<>(requests.size());
                        hold(plan, requests, group, held::add);
                        return new PermitBundle(held);
                    },
                    failure -> {
                        RejectedAnswer answer = plan.answer(requests.get(call.last()), failure);
                        if (answer == null) {
                            throw failure;
                        }
                        return answer.answer(target, arguments, failure);
                    });
        } catch (RuntimeException | Error e) {
            return Acquisition.failed(e);
        }
    }

    /** What a call asks for. */
    List<PermitRequest> requests(LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        return new PermitPlan(permits.get(), limited, target, arguments).requests();
    }

    private static void hold(
            PermitPlan plan, List<PermitRequest> requests, PermitGroup group, Consumer<Permit> holder) {
        try {
            // those that the method does not name first, since the permit that was added last is the current one
            hold(plan, requests, group, holder, true);
            hold(plan, requests, group, holder, false);
        } catch (RuntimeException | Error e) {
            group.close();
            throw e;
        }
    }

    private static void hold(
            PermitPlan plan, List<PermitRequest> requests, PermitGroup group, Consumer<Permit> holder, boolean added) {
        for (int i = 0; i < requests.size(); i++) {
            if (plan.isAdded(requests.get(i)) == added) {
                holder.accept(plan.held(requests.get(i), group.permits().get(i)));
            }
        }
    }

    private void warnIfBlockedByItself(PermitPlan plan, String consequence) {
        plan.requests()
                .forEach(request -> nestedCalls.warnIfBlockedByItself(plan.definition(request), request, consequence));
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
}
