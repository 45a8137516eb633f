package io.github.distributedpermit.test;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;

/** Removes backends that the application defines itself. The setting replaces all others. */
final class LocalBackendReplacement implements BeanDefinitionRegistryPostProcessor {

    private static final Log log = LogFactory.getLog(LocalBackendReplacement.class);

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (!(registry instanceof ConfigurableListableBeanFactory beans)) {
            return;
        }
        for (String name : beans.getBeanNamesForType(PermitBackend.class, true, false)) {
            Class<?> type = beans.getType(name, false);
            if (registry.containsBeanDefinition(name) && type != LocalPermitBackend.class) {
                log.info("Bean '%s' of type %s is replaced with the backend in memory for this test"
                        .formatted(name, type == null ? "unknown" : type.getName()));
                registry.removeBeanDefinition(name);
            }
        }
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        // all is done before
    }
}
