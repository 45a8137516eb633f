package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRejectedException;
import org.jspecify.annotations.Nullable;

/** Answers a call that got no permit, in the place of the limited method. */
interface RejectedAnswer {

    /** What the caller gets. */
    @Nullable
    Object answer(Object target, @Nullable Object[] arguments, PermitRejectedException rejected) throws Throwable;
}
