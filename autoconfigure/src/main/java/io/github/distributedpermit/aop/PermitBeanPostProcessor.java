package io.github.distributedpermit.aop;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.PriorityOrdered;

/**
 * Checks the annotations of every bean when it is made: singletons at start, lazy and prototype beans at their creation.
 * What it refuses cannot be used unlimited.
 */
public final class PermitBeanPostProcessor implements BeanPostProcessor, SmartInitializingSingleton, PriorityOrdered {

    private static final Log log = LogFactory.getLog(PermitBeanPostProcessor.class);

    private final PermitOperations operations;
    private final ConfigurableListableBeanFactory beanFactory;

    /** Checks the beans of this factory. */
    public PermitBeanPostProcessor(PermitOperations operations, ConfigurableListableBeanFactory beanFactory) {
        this.operations = operations;
        this.beanFactory = beanFactory;
    }

    /** First, so that it sees beans as they are and few are made before it. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        operations.check(bean.getClass());
        return bean;
    }

    /** Sees the products of factory beans. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        operations.check(bean.getClass());
        return bean;
    }

    /** Beans made before this one are not limited; mocks of a test are not meant to be. */
    @Override
    public void afterSingletonsInstantiated() {
        operations.checkFallbacks(beanFactory);
        for (String name : beanFactory.getBeanDefinitionNames()) {
            Object bean = beanFactory.containsSingleton(name) ? beanFactory.getSingleton(name) : null;
            if (bean != null && operations.isUnchecked(AopProxyUtils.ultimateTargetClass(bean))) {
                log.warn("Bean '" + name + "' is NOT limited by @DistributedPermit: it was made before bean"
                        + " post-processors were ready. Inject it lazily where a post-processor or its @Configuration"
                        + " needs it");
            }
        }
    }
}
