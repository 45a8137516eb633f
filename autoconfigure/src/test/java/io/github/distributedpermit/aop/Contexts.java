package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

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

    /** Whether a permit of the key is idle; takes it for a moment. */
    static boolean isFree(ApplicationContext context, String key) {
        try {
            Optional<Permit> permit = context.getBean(Permits.class).tryAcquire(key);
            permit.ifPresent(Permit::release);
            return permit.isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
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
