package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.PermitAdvisor;
import io.github.distributedpermit.aop.PermitBeanPostProcessor;
import io.github.distributedpermit.aop.PermitOperations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/** The advice. Static and lazy towards everything else, since bean post-processors are made before all other beans. */
@Configuration(proxyBeanMethods = false)
@Import(ProxyCreatorRegistrar.class)
class AdviceConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static PermitOperations distributedPermitOperations(ConfigurableListableBeanFactory beanFactory) {
        return new PermitOperations(beanFactory);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static PermitAdvisor distributedPermitAdvisor(PermitOperations operations, ObjectProvider<Permits> permits) {
        return new PermitAdvisor(operations, permits);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static PermitBeanPostProcessor distributedPermitBeanPostProcessor(
            PermitOperations operations, ConfigurableListableBeanFactory beanFactory) {
        return new PermitBeanPostProcessor(operations, beanFactory, DistributedPermitAutoConfiguration.ENGINE);
    }

    /**
     * Returns the permits that are kept only for {@code holdAtLeast}, just before the shutdown waits for the calls that hold
     * permits: a job that has ended does not hold up the shutdown.
     */
    @Bean
    ContextLifecycle distributedPermitMinimumHoldsEnd(PermitOperations operations) {
        return ContextLifecycle.of(
                StoreMembership.PHASE + 1, operations::beginMinimumHolds, operations::endMinimumHolds);
    }
}
