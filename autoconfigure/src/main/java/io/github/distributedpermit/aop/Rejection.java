package io.github.distributedpermit.aop;

import org.jspecify.annotations.Nullable;

/**
 * A call without a permit that does not end with the exception.
 *
 * @param instead of the permit that the call did not get
 */
record Rejection(RejectedAnswer instead, RuntimeException exception) {

    /** Throws the exception if there is no answer. */
    static Rejection of(@Nullable RejectedAnswer instead, RuntimeException exception) {
        if (instead == null) {
            throw exception;
        }
        return new Rejection(instead, exception);
    }

    @Nullable
    Object answer(Object target, @Nullable Object[] arguments) throws Throwable {
        return instead.answer(target, arguments, exception);
    }
}
