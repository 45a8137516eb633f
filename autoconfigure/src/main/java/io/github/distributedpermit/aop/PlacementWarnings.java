package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Warns about limited methods that are called without the proxy, or for which a limit hardly makes sense: methods of
 * {@code @Configuration} classes, {@code @Bean} methods and callbacks of a bean's life. Each class is looked at once, when its first
 * bean is made. Other ways around a proxy, such as calls through {@code this}, are not seen.
 */
final class PlacementWarnings {

    private static final Log log = LogFactory.getLog(PlacementWarnings.class);

    private static final String CONFIGURATION = "org.springframework.context.annotation.Configuration";
    private static final String BEAN = "org.springframework.context.annotation.Bean";
    private static final List<String> CALLBACKS =
            List.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

    private PlacementWarnings() {}

    /**
     * Logs what it finds.
     *
     * @param type the class of a bean
     * @param limited its limited methods
     */
    static void check(Class<?> type, Set<Method> limited) {
        boolean configuration = AnnotatedElementUtils.isAnnotated(type, CONFIGURATION);
        for (Method method : limited) {
            if (isOnMethod(method, type)) {
                check(type, method, configuration);
            }
        }
    }

    private static void check(Class<?> type, Method method, boolean configuration) {
        String callback = CALLBACKS.stream()
                .filter(name -> AnnotatedElementUtils.isAnnotated(method, name))
                .findFirst()
                .orElse(null);
        if (callback != null) {
            warn(
                    type,
                    method,
                    "it has no effect where the container calls the method as @"
                            + callback.substring(callback.lastIndexOf('.') + 1)
                            + ", because it calls the bean itself and not its proxy",
                    "Take the permit in code with the bean Permits, or do the work after the start, as on"
                            + " ApplicationReadyEvent, in another bean");
        } else if (AnnotatedElementUtils.isAnnotated(method, BEAN)) {
            warn(
                    type,
                    method,
                    "it limits at most the creation of the bean, not the calls of its methods",
                    "Put it on the methods of the bean's class or on the class");
        } else if (configuration) {
            warn(
                    type,
                    method,
                    "the class is a @Configuration class, which is often made before the advice is ready",
                    "Put the method into a @Component or @Service");
        }
    }

    /** A type's annotation is meant for the methods that other beans call. */
    private static boolean isOnMethod(Method method, Class<?> type) {
        return PermitAnnotations.of(method, type).stream().anyMatch(declared -> declared.method() != null);
    }

    private static void warn(Class<?> type, Method method, String problem, String remedy) {
        if (log.isWarnEnabled()) {
            log.warn("@DistributedPermit on %s in %s: %s. %s"
                    .formatted(DeclaredPermit.signature(method), type.getName(), problem, remedy));
        }
    }
}
