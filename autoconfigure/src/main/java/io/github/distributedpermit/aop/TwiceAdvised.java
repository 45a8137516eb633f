package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * Lets the advice of an inner proxy pass where a bean is advised twice, as by a second auto-proxy creator: the outer one
 * has taken the permits of the call. What the method itself calls, be it through the same proxies, takes permits of its
 * own. Thread-safe.
 */
final class TwiceAdvised {

    /** The proxy that the current thread's limited call is about to go through, and the method it calls there. */
    private final ThreadLocal<@Nullable InnerCall> inner = new ThreadLocal<>();

    /** Spares calls the look at their thread where no bean is advised twice. */
    private volatile boolean seen;

    /** Whether the permits of this call have been taken by the proxy around this one. */
    boolean isTaken(MethodInvocation invocation) {
        if (!seen) {
            return false;
        }
        InnerCall call = inner.get();
        return call != null
                && invocation instanceof ProxyMethodInvocation proxied
                && proxied.getProxy() == call.proxy
                && call.isOf(invocation.getMethod());
    }

    /** Goes on with a call whose permits are taken. */
    @Nullable
    Object proceed(MethodInvocation invocation, Object target) throws Throwable {
        return proceed(invocation, target, MethodInvocation::proceed);
    }

    /** The same after the advice has returned, where the thread no longer exposes the invocation to AspectJ's advice. */
    @Nullable
    Object proceedLater(MethodInvocation invocation, Object target) throws Throwable {
        return proceed(invocation, target, ExposeInvocationInterceptor.INSTANCE::invoke);
    }

    private @Nullable Object proceed(MethodInvocation invocation, Object target, Proceeding how) throws Throwable {
        boolean twice = target instanceof SpringProxy;
        if (!twice && !seen) {
            return how.proceed(invocation);
        }
        seen |= twice;
        InnerCall outer = inner.get();
        inner.set(twice ? new InnerCall(target, invocation.getMethod()) : null);
        try {
            return how.proceed(invocation);
        } finally {
            if (outer == null) {
                inner.remove();
            } else {
                inner.set(outer);
            }
        }
    }

    @FunctionalInterface
    private interface Proceeding {

        @Nullable
        Object proceed(MethodInvocation invocation) throws Throwable;
    }

    private record InnerCall(Object proxy, Method method) {

        /** One proxy may know a method by an interface, the other by the class. */
        boolean isOf(Method other) {
            return method.getName().equals(other.getName())
                    && Arrays.equals(method.getParameterTypes(), other.getParameterTypes());
        }
    }
}
