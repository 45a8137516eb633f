package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRejectedException;
import org.jspecify.annotations.Nullable;

/**
 * A rejected call that does not end with the exception.
 *
 * @param instead of the permit that the call did not get
 */
record Rejection(RejectedAnswer instead, PermitRejectedException exception) {

    @Nullable
    Object answer(Object target, @Nullable Object[] arguments) throws Throwable {
        return instead.answer(target, arguments, exception);
    }
}
