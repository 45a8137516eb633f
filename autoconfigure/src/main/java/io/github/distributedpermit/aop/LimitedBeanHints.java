package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ClassUtils;

/**
 * Has a native image contain what the advice looks at in beans with limited methods: their methods with annotations and
 * fallbacks, and the types of arguments that an expression of a key reads.
 */
final class LimitedBeanHints implements BeanRegistrationAotProcessor {

    private final BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        Set<Method> limited = PermitOperations.findLimitedMethods(type);
        if (limited.isEmpty()) {
            return null;
        }
        return (generation, code) -> register(generation.getRuntimeHints(), type, limited, bean.getBeanFactory());
    }

    private void register(
            RuntimeHints hints, Class<?> type, Set<Method> limited, ConfigurableListableBeanFactory beans) {
        ReflectionHints reflection = hints.reflection();
        registerMethods(reflection, type);
        for (Method method : limited) {
            for (DeclaredPermit declared : PermitAnnotations.of(method, type)) {
                String key = declared.annotation().key();
                if (!KeyTemplate.isLiteral(key) || key.contains("${")) { // a placeholder may bring an expression
                    registerArguments(reflection, method);
                }
                String fallback = declared.annotation().fallback();
                if (BeanFallback.isMeant(fallback)) {
                    registerMethods(reflection, BeanFallback.beanName(fallback), beans);
                }
            }
        }
    }

    private static void registerMethods(
            ReflectionHints reflection, String bean, ConfigurableListableBeanFactory beans) {
        Class<?> type = beans.containsBean(bean) ? beans.getType(bean, false) : null;
        if (type != null) {
            registerMethods(reflection, ClassUtils.getUserClass(type));
        }
    }

    private static void registerMethods(ReflectionHints reflection, Class<?> type) {
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            reflection.registerType(each, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        for (Class<?> each : ClassUtils.getAllInterfacesForClass(type)) {
            reflection.registerType(each, MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }

    /** An expression may read a property, call a method, or take the text of an argument. */
    private void registerArguments(ReflectionHints reflection, Method method) {
        properties.registerReflectionHints(reflection, method.getGenericParameterTypes());
        for (Class<?> parameter : method.getParameterTypes()) {
            if (!parameter.isPrimitive() && !parameter.isArray()) {
                reflection.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
    }
}
