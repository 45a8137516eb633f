package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/** Takes the permits of a method in order, calls it, and returns them in reverse. */
final class PermitInterceptor implements MethodInterceptor {

    private final PermitOperations operations;
    private final Supplier<Permits> permits;
    private final NestedCalls nestedCalls = new NestedCalls();
    private final TwiceAdvised twiceAdvised = new TwiceAdvised();
    private final LateValues lateValues = new LateValues();

    PermitInterceptor(PermitOperations operations, ObjectProvider<Permits> permits) {
        this.operations = operations;
        this.permits = SingletonSupplier.of(permits::getObject);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis(), "a limited method needs a target");
        if (twiceAdvised.isTaken(invocation)) {
            return twiceAdvised.proceed(invocation, target);
        }
        LimitedMethod limited = operations.of(invocation.getMethod(), target.getClass());
        @Nullable Object[] arguments = invocation.getArguments();
        try (HeldPermits held = nestedCalls.begin()) {
            for (PermitOperation operation : limited.operations()) {
                PermitRequest request = operation.request(target, limited.method(), arguments);
                nestedCalls.warnIfBlockedByItself(held, operation, request);
                Fallback fallback = operation.fallback();
                try {
                    held.add(acquire(operation, request, limited));
                } catch (PermitRejectedException e) {
                    if (fallback == null) {
                        throw e;
                    }
                    held.close();
                    return fallback.answer(target, arguments, e);
                }
            }
            Object returned = twiceAdvised.proceed(invocation, target);
            if (limited.leftOpen()) {
                lateValues.warnIfLate(limited, returned);
            }
            return returned;
        }
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
