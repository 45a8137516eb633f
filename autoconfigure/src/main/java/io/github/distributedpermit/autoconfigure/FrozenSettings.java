package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.spi.PermitBackend;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aot.AotDetector;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Settings that choose beans are evaluated when an application is processed ahead of time, as all conditions are. This says
 * at start that another value comes too late: it refuses the start where a limit would be missing, or would be kept in another
 * store than the setting says.
 */
final class FrozenSettings {

    private static final Log log = LogFactory.getLog(FrozenSettings.class);

    private static final String REMEDY =
            "Process the application ahead of time with the value that it has to run with, such as by"
                    + " <jvmArguments> or <profiles> of the goal process-aot, or run it without -Dspring.aot.enabled=true";

    private final Environment environment;
    private final boolean frozen;

    FrozenSettings(Environment environment) {
        this(environment, AotDetector.useGeneratedArtifacts());
    }

    FrozenSettings(Environment environment, boolean frozen) {
        this.environment = environment;
        this.frozen = frozen;
    }

    /** Permits were enabled, with this backend. */
    void checkEnabled(PermitBackend backend) {
        if (!frozen) {
            return;
        }
        if (!isEnabled()) {
            log.warn("distributed-permit.enabled=false has no effect: this application was processed ahead of time with"
                    + " permits, and limits apply. " + REMEDY);
        }
        Backend wanted = Binder.get(environment)
                .bind("distributed-permit.backend", Backend.class)
                .orElse(null);
        boolean ours = Stream.of(Backend.values()).anyMatch(each -> each.id().equals(backend.name()));
        if (wanted != null && ours && !wanted.id().equals(backend.name())) {
            throw new UnusableBackendException(
                    "distributed-permit.backend is %s, but this application was processed ahead of time with the backend %s"
                            .formatted(wanted.id(), backend.name()),
                    REMEDY);
        }
    }

    /** Permits were disabled. */
    void checkDisabled() {
        if (frozen && isEnabled()) {
            throw new UnusableBackendException(
                    "distributed-permit.enabled is true, but this application was processed ahead of time with false, so"
                            + " no call would be limited",
                    REMEDY);
        }
    }

    private boolean isEnabled() {
        return environment.getProperty("distributed-permit.enabled", Boolean.class, true);
    }
}
