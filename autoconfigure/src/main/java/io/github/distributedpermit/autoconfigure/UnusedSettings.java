package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Warns about settings without effect: those of permits that no annotation and no code has used, since their names may be mistyped,
 * and those for annotated methods of names that no annotation has. Beans that are not made yet, such as lazy ones, are looked at by
 * their class. Code may use a name only later, so the message says "so far".
 */
final class UnusedSettings {

    private static final Log log = LogFactory.getLog(UnusedSettings.class);

    private final PermitEngine engine;
    private final NamedSettings settings;
    private final PermitOperations operations;

    UnusedSettings(PermitEngine engine, NamedSettings settings, PermitOperations operations) {
        this.engine = engine;
        this.settings = settings;
        this.operations = operations;
    }

    void warn(ConfigurableListableBeanFactory beanFactory) {
        if (settings.named().isEmpty()) {
            return;
        }
        operations.defineFutureBeans(beanFactory);
        engine.unusedSettings().forEach(this::warnOfUnused);
        Set<String> annotated = operations.names();
        settings.named().forEach((name, each) -> warnOfAnnotationSettings(name, each, annotated));
    }

    private void warnOfUnused(String name) {
        log.warn(
                "Settings of permit '%s' (such as %s) are used by no annotation and no code so far. If no code uses them later, correct the name%s, or remove them"
                        .formatted(
                                name,
                                PermitProperty.of(name, "limit"),
                                NearestName.of(name, engine.names())
                                        .map(nearest -> " (did you mean " + PermitProperty.of(nearest, "limit") + "?)")
                                        .orElse("")));
    }

    private static void warnOfAnnotationSettings(String name, PermitSettings settings, Set<String> annotated) {
        String without = Stream.of(
                        settings.onReject() == null ? "" : "on-reject",
                        settings.holdAtLeast() == null ? "" : "hold-at-least")
                .filter(property -> !property.isEmpty())
                .collect(Collectors.joining(" and "));
        if (!without.isEmpty() && annotated.stream().noneMatch(used -> PermitEngine.areFor(name, used))) {
            log.warn(
                    "The setting(s) %s of permit '%s' have no effect: they are for annotated methods, and no annotation has"
                                    .formatted(without, name)
                            + " this name. A call in code ends with PermitRejectedException if it gets no permit, and holds its"
                            + " permit until it releases it. Remove the setting(s), or annotate the method");
        }
    }
}
