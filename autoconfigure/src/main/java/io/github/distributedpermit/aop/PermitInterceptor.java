package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.HoldStrategy;
import java.util.Objects;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * Takes the permits of a method in order, calls it, and returns them in reverse. A method whose work outlives its call is
 * left to the {@link HoldStrategy} of its return type. Thread-safe.
 */
final class PermitInterceptor implements MethodInterceptor {

    private final PermitOperations operations;
    private final PermitAcquirer acquirer;
    private final TwiceAdvised twiceAdvised = new TwiceAdvised();
    private final AsyncReturnWarning lateValues = new AsyncReturnWarning();

    PermitInterceptor(PermitOperations operations, ObjectProvider<Permits> permits) {
        this.operations = operations;
        this.acquirer = new PermitAcquirer(SingletonSupplier.of(permits::getObject));
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis(), "a limited method needs a target");
        if (twiceAdvised.isTaken(invocation)) {
            return twiceAdvised.proceed(invocation, target);
        }
        LimitedMethod limited = operations.of(invocation.getMethod(), target.getClass());
        HoldStrategy strategy = limited.strategy();
        if (strategy != null) {
            return strategy.invoke(new AdvisedCall(invocation, target, limited, acquirer, twiceAdvised));
        }
        @Nullable Object[] arguments = invocation.getArguments();
        try (HeldPermits held = acquirer.begin()) {
            Rejection rejection = acquirer.acquireAll(held, limited, target, arguments);
            if (rejection != null) {
                held.close();
                return rejection.answer(target, arguments);
            }
            Object returned = twiceAdvised.proceed(invocation, target);
            if (limited.leftOpen()) {
                lateValues.warnIfLate(limited, returned);
            }
            return returned;
        }
    }
}
