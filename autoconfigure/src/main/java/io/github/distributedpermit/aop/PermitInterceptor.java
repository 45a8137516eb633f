package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/** Takes the permits of a method in order, calls it, and returns them in reverse. */
final class PermitInterceptor implements MethodInterceptor {

    private final PermitOperations operations;
    private final Supplier<Permits> permits;
    private final LongSupplier ticker;
    private final NestedCalls nestedCalls = new NestedCalls();

    PermitInterceptor(PermitOperations operations, ObjectProvider<Permits> permits, LongSupplier ticker) {
        this.operations = operations;
        this.permits = SingletonSupplier.of(permits::getObject);
        this.ticker = ticker;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis(), "a limited method needs a target");
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), target.getClass());
        @Nullable Object[] arguments = invocation.getArguments();
        try (HeldPermits held = new HeldPermits(nestedCalls)) {
            for (PermitOperation operation : operations.of(invocation.getMethod(), target.getClass())) {
                PermitRequest request = operation.request(target, method, arguments);
                nestedCalls.warnIfBlockedByItself(operation, request);
                Fallback fallback = operation.fallback();
                try {
                    held.add(acquire(operation, request, method));
                } catch (PermitRejectedException e) {
                    if (fallback == null) {
                        throw e;
                    }
                    held.close();
                    return fallback.answer(target, arguments, e);
                }
            }
            return invocation.proceed();
        }
    }

    private Permit acquire(PermitOperation operation, PermitRequest request, Method method)
            throws InterruptedException {
        long start = ticker.getAsLong();
        try {
            return permits.get().named(operation.definition().name()).acquire(request);
        } catch (InterruptedException e) {
            if (declaresInterruption(method)) {
                throw e;
            }
            Thread.currentThread().interrupt();
            Duration waited = Duration.ofNanos(ticker.getAsLong() - start);
            throw new PermitInterruptedException(
                    "Interrupted after %d ms while waiting for a permit of '%s'"
                            .formatted(waited.toMillis(), request.key()),
                    e);
        }
    }

    private static boolean declaresInterruption(Method method) {
        return Stream.of(method.getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
    }
}
