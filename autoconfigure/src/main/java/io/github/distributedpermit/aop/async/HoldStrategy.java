package io.github.distributedpermit.aop.async;

import org.jspecify.annotations.Nullable;

/** Decides when a limited method of one return type runs, and how long its permits are held. Thread-safe. */
@FunctionalInterface
public interface HoldStrategy {

    /**
     * Answers a call of the method.
     *
     * @return what the caller gets
     * @throws Throwable what the caller gets instead
     */
    @Nullable
    Object invoke(LimitedCall call) throws Throwable;

    /** Whether the work ends within that of the caller, so that it may join the caller's permit. */
    default boolean endsWithinTheCaller() {
        return false;
    }
}
