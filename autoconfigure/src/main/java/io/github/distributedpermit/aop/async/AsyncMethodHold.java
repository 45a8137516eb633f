package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;

/**
 * For {@code @Async} methods that return a future. The advice runs within {@code @Async}, on the thread of the work: that
 * thread waits for the permits, and they are held until the returned future has ended.
 */
public final class AsyncMethodHold implements HoldStrategy {

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        return call.whileHolding(
                held -> {
                    Object returned = call.proceed();
                    PermitBundle permits = held.detach();
                    try {
                        WorkEnd.observe(returned, (value, error) -> permits.release());
                    } catch (RuntimeException | Error e) {
                        permits.release();
                        throw e;
                    }
                    return returned;
                },
                fallback -> fallback);
    }
}
