package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Answers a call that got no permit with a method of the same object.
 *
 * @param method called on the bean itself, not on its proxy
 * @param failure the type of its last parameter, which takes the exception; {@code null} if it has no such parameter
 * @param suspending whether the limited method is a suspending function of Kotlin; the fallback need not be one
 */
record Fallback(Method method, @Nullable Class<?> failure, boolean suspending) implements RejectedAnswer {

    /** What the last parameter may be declared as, the most specific one first. */
    private static final List<Class<?>> FAILURES = List.of(
            PermitRejectedException.class,
            RejectedExecutionException.class,
            RuntimeException.class,
            Exception.class,
            Throwable.class);

    /**
     * The method of the type that answers for the limited one.
     *
     * @param name the name of the method
     * @param said what the annotation says
     * @throws InvalidPermitException if there is none
     */
    static Fallback find(String name, String said, Method limited, Class<?> type, String origin) {
        Fallback found = resolve(name, limited, type);
        if (found != null) {
            return found;
        }
        String wanted = Arrays.stream(SuspendingFunctions.parameters(limited))
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        throw new InvalidPermitException(
                "%s: fallback '%s' for %s is missing in %s or has other parameters or another return type"
                        .formatted(origin, said, DeclaredPermit.signature(limited), type.getName()),
                "Add a method '%s %s(%s)', optionally with a last parameter of type PermitRejectedException, or Throwable to answer for failures of the store as well"
                        .formatted(SuspendingFunctions.returnType(limited).getSimpleName(), name, wanted));
    }

    /** The method of this name that can answer for the limited one; {@code null} if there is none. */
    static @Nullable Fallback resolve(String name, Method limited, Class<?> type) {
        Class<?>[] parameters = SuspendingFunctions.parameters(limited);
        boolean suspending = SuspendingFunctions.isSuspending(limited);
        for (Class<?> failure : FAILURES) {
            Class<?>[] explained = Arrays.copyOf(parameters, parameters.length + 1);
            explained[parameters.length] = failure;
            Method found = declared(type, name, explained, limited);
            if (found != null) {
                return new Fallback(found, failure, suspending);
            }
        }
        Method plain = declared(type, name, parameters, limited);
        return plain == null ? null : new Fallback(plain, null, suspending);
    }

    /** For a suspending function one that suspends, else one that does not. */
    private static @Nullable Method declared(Class<?> type, String name, Class<?>[] parameters, Method limited) {
        if (SuspendingFunctions.isSuspending(limited)) {
            Class<?>[] suspended = Arrays.copyOf(parameters, parameters.length + 1);
            suspended[parameters.length] = limited.getParameterTypes()[limited.getParameterCount() - 1];
            Method found = ReflectionUtils.findMethod(type, name, suspended);
            if (found != null && fits(found, limited)) {
                return found;
            }
        }
        Method found = ReflectionUtils.findMethod(type, name, parameters);
        return found != null && fits(found, limited) ? found : null;
    }

    private static boolean fits(Method fallback, Method limited) {
        return !fallback.equals(limited)
                && ClassUtils.isAssignable(
                        SuspendingFunctions.returnType(limited), SuspendingFunctions.returnType(fallback));
    }

    /** One that takes any exception answers for a store that failed as well. */
    @Override
    public boolean answers(Throwable ended) {
        return ended instanceof PermitRejectedException
                || (ended instanceof PermitBackendException && failure != null && failure.isInstance(ended));
    }

    @Override
    public @Nullable Object answer(Object target, @Nullable Object[] arguments, Throwable ended) throws Throwable {
        return call(target, method, arguments, ended);
    }

    /**
     * Calls the method.
     *
     * @param invocable the same, as the type of the target has it
     */
    @Nullable
    Object call(Object target, Method invocable, @Nullable Object[] arguments, Throwable ended) throws Throwable {
        @Nullable Object[] all = arguments;
        if (suspending) {
            all = SuspendingFunctions.argumentsFor(invocable, arguments, failure == null ? null : ended);
        } else if (failure != null) {
            all = Arrays.copyOf(arguments, arguments.length + 1);
            all[arguments.length] = ended;
        }
        return AopUtils.invokeJoinpointUsingReflection(target, invocable, all);
    }
}
