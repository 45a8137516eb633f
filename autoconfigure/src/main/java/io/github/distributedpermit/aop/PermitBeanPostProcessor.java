package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.core.PriorityOrdered;

/**
 * Checks the annotations of every bean when it is made: singletons at start, lazy and prototype beans at their creation.
 * What it refuses cannot be used unlimited. Warns of each bean that is made too early to be advised. Thread-safe.
 *
 * <p>A bean is too early if a bean post-processor depends on it. Spring registers its auto-proxy creator after it has made all
 * post-processors that are {@code Ordered}, which is later than this post-processor: that the annotations of a bean were checked does not
 * mean that the bean is limited.
 */
public final class PermitBeanPostProcessor implements BeanPostProcessor, SmartInitializingSingleton, PriorityOrdered {

    private static final Log log = LogFactory.getLog(PermitBeanPostProcessor.class);

    private final PermitOperations operations;
    private final ConfigurableListableBeanFactory beanFactory;
    private final String permits;
    /** Names of beans with limited methods that this post-processor has seen before all singletons were made. */
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    private final Set<String> warned = ConcurrentHashMap.newKeySet();
    private volatile boolean singletonsMade;

    /**
     * Checks the beans of this factory.
     *
     * @param permits the name of the bean that limited beans take permits from, if it is in this factory
     */
    public PermitBeanPostProcessor(
            PermitOperations operations, ConfigurableListableBeanFactory beanFactory, String permits) {
        this.operations = operations;
        this.beanFactory = beanFactory;
        this.permits = permits;
    }

    /** First, so that it sees beans as they are and few are made before it. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        operations.check(bean.getClass());
        Set<Method> limited = operations.limitedMethodsOf(bean.getClass());
        if (!limited.isEmpty()) {
            UnproxiedBeans.check(bean, beanName, limited, beanFactory);
        }
        return bean;
    }

    /** Sees the products of factory beans too. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        operations.check(bean.getClass());
        if (operations.limits(AopProxyUtils.ultimateTargetClass(bean))) {
            if (beanFactory.containsLocalBean(beanName)) {
                // Spring then destroys this bean first, and before it those that use it: their @PreDestroy methods get
                // permits
                beanFactory.registerDependentBean(permits, beanName);
            }
            if (!singletonsMade) {
                seen.add(beanName);
            }
            if (!isAutoProxyCreatorRegistered()) {
                warnUnlessAdvised(bean, beanName);
            }
        }
        return bean;
    }

    /** Beans that this post-processor has not seen were made before it, or were registered as finished objects. */
    @Override
    public void afterSingletonsInstantiated() {
        singletonsMade = true;
        operations.checkFallbacks(beanFactory);
        operations.checkNestedLimits();
        for (String name : beanFactory.getBeanDefinitionNames()) {
            Object bean = beanFactory.containsSingleton(name) ? beanFactory.getSingleton(name) : null;
            if (bean != null && !seen.contains(name) && operations.limits(AopProxyUtils.ultimateTargetClass(bean))) {
                warnUnlessAdvised(bean, name);
            }
        }
        seen.clear();
    }

    private boolean isAutoProxyCreatorRegistered() {
        return !(beanFactory instanceof AbstractBeanFactory factory)
                || factory.getBeanPostProcessors().stream().anyMatch(AbstractAdvisorAutoProxyCreator.class::isInstance);
    }

    private void warnUnlessAdvised(Object bean, String name) {
        boolean isScopedProxy =
                bean instanceof AopInfrastructureBean; // its target, which is made later, is the bean to limit
        if (!isScopedProxy && !isAdvised(bean) && warned.add(name)) {
            log.warn("Bean '" + name + "' is NOT limited by @DistributedPermit: it was made before bean"
                    + " post-processors were ready, or registered as a finished object, as a test does with a mock. Inject it"
                    + " lazily where a post-processor or its @Configuration needs it, or declare the @Bean method of the"
                    + " post-processor static");
        }
    }

    /** Whether the application has put the advice around the bean itself. */
    private static boolean isAdvised(Object bean) {
        for (@Nullable Object each = bean;
                each instanceof Advised advised;
                each = AopProxyUtils.getSingletonTarget(each)) {
            if (Arrays.stream(advised.getAdvisors()).anyMatch(PermitAdvisor.class::isInstance)) {
                return true;
            }
        }
        return false;
    }
}
