package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * An annotation and where it stands.
 *
 * @param annotation with the attributes of a composed annotation merged in
 * @param type the type that carries it, or whose method does
 * @param method the method that carries it, {@code null} if the type does
 */
record DeclaredPermit(
        DistributedPermit annotation,
        Class<?> type,
        @Nullable Method method) {

    /** Short and constant, for settings and metrics: {@code ReportService.export}. */
    String shortName() {
        return ClassUtils.getShortName(type) + (method == null ? "" : "." + method.getName());
    }

    /** Unambiguous, for keys and messages: {@code com.acme.ReportService.export(long)}. */
    String fullName() {
        return type.getName() + (method == null ? "" : "." + signature(method));
    }

    /** Name and parameter types of a method. */
    static String signature(Method method) {
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getTypeName)
                .collect(Collectors.joining(",", method.getName() + "(", ")"));
    }
}
