package io.github.distributedpermit.aop;

import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications with the local backend. */
final class Contexts {

    private Contexts() {}

    static ApplicationContextRunner local() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        PropertyPlaceholderAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=local");
    }

    /** Starts an application with a bean of this class, which has to fail because of its annotation. */
    static InvalidPermitException refusal(Class<?> bean, String... properties) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        local().withBean(bean).withPropertyValues(properties).run(context -> failure.set(context.getStartupFailure()));
        for (Throwable cause = failure.get(); cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidPermitException refusal) {
                return refusal;
            }
        }
        throw new AssertionError("The start was not refused", failure.get());
    }
}
