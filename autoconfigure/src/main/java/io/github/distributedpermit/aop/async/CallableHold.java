package io.github.distributedpermit.aop.async;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * For methods that return a {@code Callable}. The method itself runs at once and without a permit, since it only makes the
 * task. The permits are taken by the thread that calls the task, and are held until that call returns or throws.
 */
public final class CallableHold implements HoldStrategy {

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        Object returned = call.proceed();
        return returned == null ? null : new LimitedTask(call, (Callable<?>) returned);
    }

    private record LimitedTask(LimitedCall limited, Callable<?> task) implements Callable<@Nullable Object> {

        @Override
        public @Nullable Object call() throws Exception {
            try {
                return limited.whileHolding(held -> task.call(), LimitedTask::callFallback);
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        private static @Nullable Object callFallback(@Nullable Object fallback) throws Exception {
            return fallback == null ? null : ((Callable<?>) fallback).call();
        }
    }
}
