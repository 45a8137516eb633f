package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Refuses methods that Spring's proxies would silently pass by. */
final class ProxyRules {

    private static final String REMEDY = "Spring cannot put the permit around it: make it an overridable method of a"
            + " class that is not final (in Kotlin: open, or the kotlin-spring plugin), or take the permit in code"
            + " with the bean Permits";

    private ProxyRules() {}

    static void check(Method method, Class<?> type, String origin) {
        String problem = problem(method, type);
        if (problem != null) {
            throw new InvalidPermitException(
                    "%s: @DistributedPermit has no effect on %s in %s, because %s"
                            .formatted(origin, DeclaredPermit.signature(method), type.getName(), problem),
                    REMEDY);
        }
    }

    private static @Nullable String problem(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers)) {
            return "the method is private";
        }
        if (Modifier.isStatic(modifiers)) {
            return "the method is static";
        }
        // such beans are proxied by their interfaces
        if (Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type)) {
            return null;
        }
        if (Modifier.isFinal(modifiers)) {
            return "the method is final";
        }
        if (Modifier.isFinal(type.getModifiers())) {
            return "the class is final";
        }
        boolean packagePrivate = !Modifier.isPublic(modifiers) && !Modifier.isProtected(modifiers);
        if (packagePrivate && !method.getDeclaringClass().getPackageName().equals(type.getPackageName())) {
            return "the method is visible in its own package only and the bean's class is in another";
        }
        return null;
    }
}
