package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Warns once, when the application is ready, about settings of permits that no annotation and no code has used, since their
 * names may be mistyped. Beans that are not made yet, such as lazy ones, are looked at by their class. Code may use a name
 * only later, so the message says "so far".
 */
final class UnusedSettingsWarning implements ApplicationListener<ApplicationReadyEvent> {

    private static final Log log = LogFactory.getLog(UnusedSettingsWarning.class);

    private final PermitEngine engine;
    private final PermitOperations operations;
    private final ConfigurableListableBeanFactory beanFactory;
    private final AtomicBoolean done = new AtomicBoolean();

    UnusedSettingsWarning(
            PermitEngine engine, PermitOperations operations, ConfigurableListableBeanFactory beanFactory) {
        this.engine = engine;
        this.operations = operations;
        this.beanFactory = beanFactory;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (engine.unusedSettings().isEmpty() || !done.compareAndSet(false, true)) {
            return;
        }
        operations.defineFutureBeans(beanFactory);
        for (String name : engine.unusedSettings()) {
            log.warn(
                    "Settings of permit '%s' (such as %s) are used by no annotation and no code so far%s. Correct the name, or remove them"
                            .formatted(
                                    name,
                                    PermitProperty.of(name, "limit"),
                                    NearestName.of(name, engine.names())
                                            .map(nearest ->
                                                    "; did you mean " + PermitProperty.of(nearest, "limit") + "?")
                                            .orElse("")));
        }
    }

    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
