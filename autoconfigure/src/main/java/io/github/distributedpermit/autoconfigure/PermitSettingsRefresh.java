package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Applies settings under {@code distributed-permit.permits} and {@code distributed-permit.defaults} that have changed in the
 * environment while the application runs. With Spring Cloud this happens by itself; otherwise the application calls
 * {@link #refresh()} when it has changed a property source. To set limits in code, see {@link PermitCatalog#changeLimits}.
 * Thread-safe.
 */
public final class PermitSettingsRefresh {

    private static final Log log = LogFactory.getLog(PermitSettingsRefresh.class);

    private static final String PREFIX = "distributed-permit.";

    private final PermitEngine engine;
    private final ConfigurableEnvironment environment;
    private final SettingsReader reader;
    private final Duration commandTimeout;
    private final SettingsWarnings warnings;
    private NamedSettings present;

    PermitSettingsRefresh(
            PermitEngine engine,
            ConfigurableEnvironment environment,
            SettingsReader reader,
            Duration commandTimeout,
            SettingsWarnings warnings,
            NamedSettings present) {
        this.engine = engine;
        this.environment = environment;
        this.reader = reader;
        this.commandTimeout = commandTimeout;
        this.warnings = warnings;
        this.present = present;
    }

    /**
     * Reads the settings from the environment and applies them if they differ from those in force. Settings that are not
     * possible are refused as a whole, with a warning in the log, and those in force stay.
     *
     * @return whether the settings of the environment are in force now
     */
    public synchronized boolean refresh() {
        try {
            NamedSettings next = NamedSettings.read(environment, reader, warnings);
            if (next.equals(present)) {
                return true;
            }
            check(next);
            engine.changeSettings(next.defaults(), next.named());
            log.info("Changed settings of permits are in force. Limits set: " + limits(next));
            present = next;
            return true;
        } catch (RuntimeException e) {
            log.warn(
                    "Changed settings of permits were refused, and those before stay in force: " + messages(e)
                            + ". Correct them under distributed-permit.permits or distributed-permit.defaults and refresh again");
            log.debug("Why settings were refused", e);
            return false;
        }
    }

    /** How long answers may take was derived at the start, also for the connections to the store. */
    private void check(NamedSettings next) {
        next.storeTimeouts()
                .filter(storeTimeout -> storeTimeout.compareTo(commandTimeout) < 0)
                .findFirst()
                .ifPresent(storeTimeout -> {
                    throw new IllegalArgumentException(
                            "a store-timeout of %d ms is shorter than the %d ms that answers of the store may take since the start; restart the application for it"
                                    .formatted(storeTimeout.toMillis(), commandTimeout.toMillis()));
                });
    }

    /** The same after these properties have changed. */
    void refresh(Collection<String> keys) {
        Set<String> atNextStart = keys.stream()
                .filter(key -> key.startsWith(PREFIX)
                        && !key.startsWith(PREFIX + "permits")
                        && !key.startsWith(PREFIX + "defaults"))
                .collect(Collectors.toCollection(TreeSet::new));
        if (!atNextStart.isEmpty()) {
            log.warn(
                    "Changed properties of distributed-permit that are read at start only take effect at the next start: "
                            + String.join(", ", atNextStart));
        }
        refresh();
    }

    private static String limits(NamedSettings settings) {
        Set<String> limits = new TreeSet<>();
        settings.named().forEach((name, each) -> {
            if (each.limit() != null) {
                limits.add(name + "=" + each.limit());
            }
        });
        return limits.isEmpty() ? "none" : String.join(", ", limits);
    }

    /** The messages of all causes: that of a binding failure names only the property. */
    private static String messages(Throwable failure) {
        Set<String> messages = new LinkedHashSet<>();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            messages.add(Objects.requireNonNullElse(
                    each.getMessage(), each.getClass().getSimpleName()));
        }
        return String.join(": ", messages);
    }
}
