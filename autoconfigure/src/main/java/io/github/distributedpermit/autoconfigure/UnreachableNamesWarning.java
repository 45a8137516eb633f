package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitAccess;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Warns once, when the application is ready, about permits that the endpoint of a servlet container cannot be asked for,
 * because their names contain a slash: Tomcat refuses a path with an encoded one.
 */
final class UnreachableNamesWarning implements ApplicationListener<ApplicationReadyEvent> {

    private static final Log log = LogFactory.getLog(UnreachableNamesWarning.class);

    private final PermitAccess permits;
    private final AtomicBoolean done = new AtomicBoolean();

    UnreachableNamesWarning(PermitAccess permits) {
        this.permits = permits;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (!done.compareAndSet(false, true)) {
            return;
        }
        permits.definitions().stream()
                .map(PermitDefinition::name)
                .filter(name -> name.indexOf('/') >= 0)
                .distinct()
                .sorted()
                .forEach(
                        name -> log.warn(("The endpoint 'permits' cannot show or change permit '%s' over HTTP: its name"
                                        + " contains a slash, and servlet containers answer a path with an encoded slash with 400."
                                        + " Give it a name without one, such as @DistributedPermit(name = \"%s\")")
                                .formatted(name, name.replace('/', '-'))));
    }

    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
