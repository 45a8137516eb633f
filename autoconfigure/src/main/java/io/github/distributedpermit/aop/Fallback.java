package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRejectedException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Answers a rejected call with a method of the same object.
 *
 * @param method called on the bean itself, not on its proxy
 * @param takesRejection whether its last parameter is the exception
 */
record Fallback(Method method, boolean takesRejection) implements RejectedAnswer {

    static Fallback find(String name, Method limited, Class<?> type, String origin) {
        Fallback found = resolve(name, limited, type);
        if (found != null) {
            return found;
        }
        String wanted = Arrays.stream(limited.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        throw new InvalidPermitException(
                "%s: fallback '%s' for %s is missing in %s or has other parameters or another return type"
                        .formatted(origin, name, DeclaredPermit.signature(limited), type.getName()),
                "Add a method '%s %s(%s)', optionally with a last parameter of type PermitRejectedException"
                        .formatted(limited.getReturnType().getSimpleName(), name, wanted));
    }

    /** The method of this name that can answer for the limited one; {@code null} if there is none. */
    static @Nullable Fallback resolve(String name, Method limited, Class<?> type) {
        Class<?>[] parameters = limited.getParameterTypes();
        Class<?>[] withRejection = Arrays.copyOf(parameters, parameters.length + 1);
        withRejection[parameters.length] = PermitRejectedException.class;
        Method explained = ReflectionUtils.findMethod(type, name, withRejection);
        if (explained != null && fits(explained, limited)) {
            return new Fallback(explained, true);
        }
        Method plain = ReflectionUtils.findMethod(type, name, parameters);
        if (plain != null && !plain.equals(limited) && fits(plain, limited)) {
            return new Fallback(plain, false);
        }
        return null;
    }

    private static boolean fits(Method fallback, Method limited) {
        return ClassUtils.isAssignable(limited.getReturnType(), fallback.getReturnType());
    }

    @Override
    public @Nullable Object answer(Object target, @Nullable Object[] arguments, PermitRejectedException rejected)
            throws Throwable {
        @Nullable Object[] all = arguments;
        if (takesRejection) {
            all = Arrays.copyOf(arguments, arguments.length + 1);
            all[arguments.length] = rejected;
        }
        return AopUtils.invokeJoinpointUsingReflection(target, method, all);
    }
}
