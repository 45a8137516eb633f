package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.PermitExecutors;
import java.util.Map;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Makes an executor bean for each entry of {@code distributed-permit.executors}. It is injected where its name is asked for, so that
 * Spring Boot's own stays the usual one.
 */
final class LimitedExecutors implements ImportBeanDefinitionRegistrar {

    private static final String PROPERTY = "distributed-permit.executors";
    /** Spring Boot's own executor. */
    private static final String POOL = "applicationTaskExecutor";

    private final Environment environment;

    LimitedExecutors(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        Binder.get(environment)
                .bind(PROPERTY, Bindable.mapOf(String.class, String.class))
                .orElse(Map.of())
                .forEach((name, permit) -> register(name, permit, registry));
    }

    private static void register(String name, String permit, BeanDefinitionRegistry registry) {
        if (registry.containsBeanDefinition(name)) {
            throw invalid(name, permit, "The application has a bean of that name already. Choose another one");
        }
        RootBeanDefinition executor = new RootBeanDefinition(LimitedExecutors.class);
        executor.setFactoryMethodName("limited");
        executor.setTargetType(AsyncTaskExecutor.class);
        executor.setDefaultCandidate(false);
        executor.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
        executor.getConstructorArgumentValues().addIndexedArgumentValue(1, permit);
        executor.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        registry.registerBeanDefinition(name, executor);
    }

    /** Called for the bean. */
    static AsyncTaskExecutor limited(
            String name,
            String permit,
            @Qualifier(POOL) ObjectProvider<Executor> pool,
            Permits permits,
            ObjectProvider<PermitCatalog> catalogs) {
        catalogs.ifAvailable(catalog -> {
            if (catalog.find(permit).isEmpty()) {
                throw invalid(
                        name,
                        permit,
                        "No permit has that name. Set distributed-permit.permits.%s.limit".formatted(permit));
            }
        });
        Executor threads = pool.getIfAvailable();
        if (threads == null) {
            throw invalid(
                    name,
                    permit,
                    "Its tasks run on Spring Boot's %s, and there is none beside an executor of the application. Declare a bean with PermitExecutors.limited in place of this property"
                            .formatted(POOL));
        }
        return PermitExecutors.limited(threads, permits.named(permit));
    }

    private static InvalidConfigurationPropertyValueException invalid(String name, String permit, String reason) {
        return new InvalidConfigurationPropertyValueException(PROPERTY + "." + name, permit, reason);
    }
}
