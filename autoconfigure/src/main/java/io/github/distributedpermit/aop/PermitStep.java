package io.github.distributedpermit.aop;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.Acquisition;
import io.github.distributedpermit.aop.async.PermitBundle;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One permit of a call that takes its permits without blocking a thread. */
final class PermitStep implements Acquisition.Step {

    private final PlannedPermit planned;
    private final Permits permits;
    private final MockedPermits mocks;
    private final @Nullable PermitBundle outer;
    private final Object target;
    private final @Nullable Object[] arguments;

    PermitStep(
            PlannedPermit planned,
            Permits permits,
            MockedPermits mocks,
            @Nullable PermitBundle outer,
            Object target,
            @Nullable Object[] arguments) {
        this.planned = planned;
        this.permits = permits;
        this.mocks = mocks;
        this.outer = outer;
        this.target = target;
        this.arguments = arguments;
    }

    @Override
    public CompletableFuture<Permit> begin() {
        Permit joined = outer != null && planned.request().reentrant() ? outer.join(planned.request()) : null;
        return joined != null ? CompletableFuture.completedFuture(joined) : acquire();
    }

    private CompletableFuture<Permit> acquire() {
        NamedPermits named = permits.named(planned.operation().definition().name());
        CompletableFuture<Permit> call = named == null ? null : named.acquireAsync(planned.request());
        return call == null || MockedPermits.isMissing(call)
                ? CompletableFuture.completedFuture(mocks.instead(planned.operation(), planned.request()))
                : call;
    }

    @Override
    public Permit held(Permit permit) {
        return planned.operation().held(permit);
    }

    @Override
    public @Nullable Object answer(Throwable failure) throws Throwable {
        RejectedAnswer instead = planned.operation().answer();
        if (instead != null && instead.answers(failure)) {
            return instead.answer(target, arguments, failure);
        }
        throw failure;
    }
}
