package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRejectedException;
import org.jspecify.annotations.Nullable;

/** Answers a call that got no permit, in the place of the limited method. */
interface RejectedAnswer {

    /** Whether it answers calls that ended with this. By default those that were rejected, not those whose store failed. */
    default boolean answers(Throwable failure) {
        return failure instanceof PermitRejectedException;
    }

    /** What the caller gets, after a failure that it {@linkplain #answers answers}. */
    @Nullable
    Object answer(Object target, @Nullable Object[] arguments, Throwable failure) throws Throwable;
}
