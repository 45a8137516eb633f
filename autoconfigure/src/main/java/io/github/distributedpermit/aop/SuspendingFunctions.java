package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.util.ClassUtils;

/**
 * Kotlin's suspending functions. Compiled, such a function has its continuation as an additional last parameter and returns
 * {@code Object}. With the libraries below, Spring's proxies turn it into a {@code Mono} for their advice, or into a
 * {@code Flux} if it returns a {@code Flow}, and resume the caller with what the advice returns.
 */
final class SuspendingFunctions {

    /** The condition under which Spring's proxies do that. */
    static final boolean SUPPORTED = KotlinDetector.isKotlinReflectPresent()
            && ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", SuspendingFunctions.class.getClassLoader());

    private SuspendingFunctions() {}

    static boolean isSuspending(Method method) {
        return KotlinDetector.isSuspendingFunction(method);
    }

    /** The parameters that the source has, without the continuation. */
    static Class<?>[] parameters(Method method) {
        Class<?>[] all = method.getParameterTypes();
        return isSuspending(method) ? Arrays.copyOf(all, all.length - 1) : all;
    }

    /** The return type that the source has; {@code void} for {@code Unit}. */
    static Class<?> returnType(Method method) {
        return isSuspending(method) && SUPPORTED
                ? new MethodParameter(method, -1).getParameterType()
                : method.getReturnType();
    }

    /** Whether Kotlin code that calls the function relies on a value. */
    static boolean neverReturnsNull(Method method) {
        return isSuspending(method)
                && SUPPORTED
                && returnType(method) != void.class
                && Nullness.forMethodReturnType(method) == Nullness.NON_NULL;
    }

    /**
     * The arguments for a fallback of a suspending function.
     *
     * @param arguments of the function, the continuation included
     * @param failure an additional argument; {@code null} if the fallback does not take it
     */
    static @Nullable Object[] argumentsFor(Method fallback, @Nullable Object[] arguments, @Nullable Throwable failure) {
        int own = arguments.length - 1;
        @Nullable Object[] all = new @Nullable Object[fallback.getParameterCount()];
        System.arraycopy(arguments, 0, all, 0, own);
        if (failure != null) {
            all[own] = failure;
        }
        if (isSuspending(fallback)) {
            all[all.length - 1] = arguments[own];
        }
        return all;
    }
}
