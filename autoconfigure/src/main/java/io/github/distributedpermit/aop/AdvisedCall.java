package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.aop.async.Acquisition;
import io.github.distributedpermit.aop.async.LimitedCall;
import io.github.distributedpermit.aop.async.PermitBundle;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** A call through a proxy. It goes on with a copy of the invocation each time, as it may after the advice has returned. */
final class AdvisedCall implements LimitedCall {

    private final MethodInvocation invocation;
    private final Object target;
    private final LimitedMethod limited;
    private final @Nullable Object[] arguments;
    private final PermitAcquirer acquirer;
    private final TwiceAdvised twiceAdvised;

    AdvisedCall(
            MethodInvocation invocation,
            Object target,
            LimitedMethod limited,
            PermitAcquirer acquirer,
            TwiceAdvised twiceAdvised) {
        this.invocation = invocation;
        this.target = target;
        this.limited = limited;
        this.arguments = invocation.getArguments();
        this.acquirer = acquirer;
        this.twiceAdvised = twiceAdvised;
    }

    @Override
    public @Nullable Object proceed() throws Throwable {
        MethodInvocation each =
                invocation instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : invocation;
        return twiceAdvised.proceedLater(each, target);
    }

    @Override
    public Acquisition acquire(@Nullable PermitBundle outer) {
        return acquirer.acquireAllAsync(limited, target, arguments, outer);
    }

    @Override
    public @Nullable Object whileHolding(Work work, Answered answered) throws Throwable {
        try (HeldPermits held = acquirer.begin()) {
            Rejection rejection = acquirer.acquireAll(held, limited, target, arguments);
            if (rejection != null) {
                held.close();
                return answered.apply(rejection.answer(target, arguments));
            }
            return work.run(held::detach);
        }
    }

    @Override
    public List<PermitRequest> requests() {
        return acquirer.requests(limited, target, arguments);
    }

    @Override
    public String description() {
        return limited.description();
    }
}
