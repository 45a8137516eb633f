package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.Set;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Refuses limited methods of beans around which Spring's auto-proxy creators never put a proxy, because the beans are part of its
 * AOP: their calls would take no permits, and nothing would say so.
 */
final class UnproxiedBeans {

    private static final String ASPECT = "org.aspectj.lang.annotation.Aspect";

    /** Any other auto-proxy creator does not know aspects, and puts a proxy around them as around other beans. */
    private static final String CREATOR_WITH_ASPECTS =
            "org.springframework.aop.aspectj.annotation.AnnotationAwareAspectJAutoProxyCreator";

    private UnproxiedBeans() {}

    /**
     * Checks a bean.
     *
     * @param limited its limited methods, at least one
     * @throws InvalidPermitException if Spring puts no proxy around it
     */
    static void check(Object bean, String name, Set<Method> limited, BeanFactory beans) {
        String kind = kind(bean, beans);
        if (kind != null) {
            String method = limited.stream()
                    .map(DeclaredPermit::signature)
                    .min(Comparator.naturalOrder())
                    .orElseThrow();
            throw new InvalidPermitException(
                    "@DistributedPermit on %s of bean '%s' (%s) would not limit its calls, because the bean is %s, and Spring never puts a proxy around such a bean"
                            .formatted(method, name, bean.getClass().getName(), kind),
                    "Move the method to another bean that this one calls, or take the permit in code with the bean Permits");
        }
    }

    /** The rule is that of {@code AbstractAutoProxyCreator.isInfrastructureClass}. */
    private static @Nullable String kind(Object bean, BeanFactory beans) {
        if (bean instanceof SpringProxy) {
            return null; // such as a scoped proxy, whose target is another bean
        }
        if (bean instanceof Advice) {
            return "an Advice, such as a MethodInterceptor";
        }
        if (bean instanceof Advisor) {
            return "an Advisor";
        }
        if (bean instanceof Pointcut) {
            return "a Pointcut";
        }
        if (bean instanceof AopInfrastructureBean) {
            return "an AopInfrastructureBean";
        }
        boolean isAspect = MergedAnnotations.from(bean.getClass(), SearchStrategy.TYPE_HIERARCHY)
                .isPresent(ASPECT);
        return isAspect && knowsAspects(beans) ? "an @Aspect" : null;
    }

    private static boolean knowsAspects(BeanFactory beans) {
        return beans instanceof AbstractBeanFactory factory
                && factory.getBeanPostProcessors().stream()
                        .anyMatch(each -> AsyncReturnTypes.hasName(each.getClass(), CREATOR_WITH_ASPECTS));
    }
}
