package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Makes the key of a call. */
@FunctionalInterface
interface KeyTemplate {

    /**
     * The key, neither empty nor blank.
     *
     * @throws IllegalArgumentException if this call has no key
     */
    String keyFor(Object target, Method method, @Nullable Object[] arguments);
}
