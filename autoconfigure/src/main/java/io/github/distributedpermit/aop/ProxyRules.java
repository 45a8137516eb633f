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

    /**
     * The annotation of a type does not skip final methods that the type inherits: one may be what the limit is for, such as a
     * template method, or implement the annotated interface.
     */
    private static final String OF_TYPE = ". If the annotation of a type should not apply to this method, put"
            + " @DistributedPermit.Exempt on the method, or, if it is of a class that you cannot change, annotate the"
            + " methods to limit instead of the type";

    private ProxyRules() {}

    static void check(DeclaredPermit declared, Method method, Class<?> type) {
        String problem = problem(method, type);
        if (problem != null) {
            throw new InvalidPermitException(
                    "%s: @DistributedPermit has no effect on %s in %s, because %s"
                            .formatted(declared.fullName(), DeclaredPermit.signature(method), type.getName(), problem),
                    declared.method() == null && Modifier.isFinal(method.getModifiers()) ? REMEDY + OF_TYPE : REMEDY);
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
