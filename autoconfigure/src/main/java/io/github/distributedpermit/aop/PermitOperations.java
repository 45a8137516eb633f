package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitCatalog;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/**
 * The permits of every limited method, checked and defined once, then cached. Thread-safe. Knows the bean factory but
 * asks it for nothing until the first limited bean is made, so that nothing is created too early.
 */
public final class PermitOperations {

    private final PermitOperationFactory factory;
    private final Map<BeanMethod, LimitedMethod> byMethod = new ConcurrentHashMap<>();
    private final Map<Class<?>, Set<Method>> limited = new ConcurrentHashMap<>();
    private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

    /** For the beans of this factory. */
    public PermitOperations(ConfigurableBeanFactory beanFactory) {
        this.factory = new PermitOperationFactory(
                new AnnotationText(beanFactory), beanFactory.getBeanProvider(PermitCatalog.class));
    }

    /** What a call needs. */
    LimitedMethod of(Method method, Class<?> beanType) {
        BeanMethod key = new BeanMethod(method, beanType);
        LimitedMethod cached = byMethod.get(key);
        if (cached != null) {
            return cached;
        }
        Class<?> type = ClassUtils.getUserClass(beanType);
        LimitedMethod made =
                new LimitedMethod(AopUtils.getMostSpecificMethod(method, beanType), type, factory.make(method, type));
        byMethod.put(key, made);
        return made;
    }

    /**
     * Checks every limited method of a bean's class and defines its permits.
     *
     * @throws InvalidPermitException if a method's annotation cannot work
     */
    void check(Class<?> beanType) {
        Class<?> type = ClassUtils.getUserClass(beanType);
        if (!checked.contains(type)) {
            limitedMethods(type).forEach(method -> of(method, type));
            checked.add(type);
        }
    }

    /** Whether a class has limited methods. */
    boolean limits(Class<?> beanType) {
        return !limitedMethods(ClassUtils.getUserClass(beanType)).isEmpty();
    }

    /** Whether a class has limited methods that nobody has checked. */
    boolean isUnchecked(Class<?> beanType) {
        return !checked.contains(ClassUtils.getUserClass(beanType)) && limits(beanType);
    }

    /** Looked up for every bean by the check and again by the pointcut, so remembered. */
    private Set<Method> limitedMethods(Class<?> type) {
        if (!PermitAnnotations.mayBeOn(type)) {
            return Set.of();
        }
        return limited.computeIfAbsent(
                type,
                each -> MethodIntrospector.selectMethods(
                        each,
                        (Method method) -> !PermitAnnotations.of(method, each).isEmpty()));
    }

    /** A method as called on beans of a class; a proxy always comes with the same object, which is then not looked into. */
    private record BeanMethod(Method method, Class<?> type) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof BeanMethod that
                    && type == that.type
                    && (method == that.method || method.equals(that.method));
        }

        @Override
        public int hashCode() {
            return 31 * method.hashCode() + type.hashCode();
        }
    }
}
