package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Answers a call that got no permit with a method of another bean, called through its proxy. The bean is made when it is first
 * needed, so that it may depend on the limited one. Thread-safe.
 */
final class BeanFallback implements RejectedAnswer {

    private static final String SEPARATOR = "::";

    private final BeanFactory beans;
    private final String bean;
    private final Fallback fallback;

    private BeanFallback(BeanFactory beans, String bean, Fallback fallback) {
        this.beans = beans;
        this.bean = bean;
        this.fallback = fallback;
    }

    /** Whether the annotation means a method of another bean. */
    static boolean isMeant(String said) {
        return said.contains(SEPARATOR);
    }

    /** The name of the bean that is meant. */
    static String beanName(String said) {
        return said.substring(0, said.indexOf(SEPARATOR)).strip();
    }

    /**
     * The method of the bean that answers for the limited one.
     *
     * @param said {@code bean::method}
     * @throws InvalidPermitException if there is no such bean or method
     */
    static BeanFallback find(String said, Method limited, BeanFactory beans, String origin) {
        int separator = said.indexOf(SEPARATOR);
        String bean = beanName(said);
        String method = said.substring(separator + SEPARATOR.length()).strip();
        if (bean.isEmpty() || method.isEmpty() || method.contains(":")) {
            throw new InvalidPermitException(
                    "%s: fallback '%s' is neither the name of a method nor bean::method".formatted(origin, said),
                    "Give the name of a bean and of one of its public methods, such as 'reports::cached'");
        }
        Class<?> type = beans.containsBean(bean) ? beans.getType(bean) : null;
        if (type == null) {
            throw new InvalidPermitException(
                    "%s: fallback '%s' means a bean named '%s', which does not exist".formatted(origin, said, bean),
                    "Define it, correct its name, or leave out '%s::' for a method of the same bean".formatted(bean));
        }
        Fallback found = Fallback.find(method, said, limited, ClassUtils.getUserClass(type), origin);
        if (!Modifier.isPublic(found.method().getModifiers())) {
            throw new InvalidPermitException(
                    "%s: fallback '%s' means %s of %s, which is not public"
                            .formatted(origin, said, DeclaredPermit.signature(found.method()), type.getName()),
                    "Make the method public, since it is called through the proxy of its bean");
        }
        return new BeanFallback(beans, bean, found);
    }

    /**
     * Refuses a method that the proxy of the bean does not have. Where the bean is made after the limited one, only its class
     * is known before.
     */
    void check(ConfigurableBeanFactory made, String origin) {
        Object other = made.containsSingleton(bean) ? made.getSingleton(bean) : null;
        if (other == null || other instanceof FactoryBean<?>) {
            return;
        }
        try {
            AopUtils.selectInvocableMethod(fallback.method(), other.getClass());
        } catch (IllegalStateException e) {
            throw new InvalidPermitException(
                    "%s: fallback '%s' means %s, which the proxy of bean '%s' does not have"
                            .formatted(
                                    origin,
                                    bean + SEPARATOR + fallback.method().getName(),
                                    DeclaredPermit.signature(fallback.method()),
                                    bean),
                    "Add the method to an interface of the bean, or leave spring.aop.proxy-target-class at true",
                    e);
        }
    }

    @Override
    public boolean answers(Throwable failure) {
        return fallback.answers(failure);
    }

    @Override
    public @Nullable Object answer(Object target, @Nullable Object[] arguments, Throwable failure) throws Throwable {
        Object other = beans.getBean(bean);
        Method invocable = AopUtils.selectInvocableMethod(fallback.method(), other.getClass());
        return fallback.call(other, invocable, arguments, failure);
    }
}
