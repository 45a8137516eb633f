package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.PermitOperations;
import io.github.distributedpermit.core.PermitSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Warns once, when the application is ready, about settings of names that no annotation has, and that have an effect on
 * annotated methods only.
 */
final class AnnotationSettingsWarning implements ApplicationListener<ApplicationReadyEvent> {

    private static final Log log = LogFactory.getLog(AnnotationSettingsWarning.class);

    private final NamedSettings settings;
    private final PermitOperations operations;
    private final ConfigurableListableBeanFactory beanFactory;
    private final AtomicBoolean done = new AtomicBoolean();

    AnnotationSettingsWarning(
            NamedSettings settings, PermitOperations operations, ConfigurableListableBeanFactory beanFactory) {
        this.settings = settings;
        this.operations = operations;
        this.beanFactory = beanFactory;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (settings.named().values().stream()
                        .allMatch(each -> forAnnotations(each).isEmpty())
                || !done.compareAndSet(false, true)) {
            return;
        }
        operations.defineFutureBeans(beanFactory);
        Set<String> annotated = operations.names();
        for (Map.Entry<String, PermitSettings> each : settings.named().entrySet()) {
            List<String> without = forAnnotations(each.getValue());
            String name = each.getKey();
            if (!without.isEmpty() && annotated.stream().noneMatch(used -> isMeant(name, used))) {
                log.warn(
                        "The setting(s) %s of permit '%s' have no effect: they are for annotated methods, and no annotation has"
                                        .formatted(String.join(" and ", without), name)
                                + " this name. A call in code ends with PermitRejectedException if it gets no permit, and holds its"
                                + " permit until it releases it. Remove the setting(s), or annotate the method");
            }
        }
    }

    private static List<String> forAnnotations(PermitSettings settings) {
        List<String> names = new ArrayList<>(2);
        if (settings.onReject() != null) {
            names.add("on-reject");
        }
        if (settings.holdAtLeast() != null) {
            names.add("hold-at-least");
        }
        return names;
    }

    /** Whether the settings of this name or pattern are those of an annotated name. */
    private static boolean isMeant(String name, String annotated) {
        return name.indexOf('*') < 0
                ? PermitPropertyScan.relaxed(name).equals(PermitPropertyScan.relaxed(annotated))
                : Pattern.compile(
                                Stream.of(name.split("\\*", -1))
                                        .map(Pattern::quote)
                                        .collect(Collectors.joining(".*")),
                                Pattern.DOTALL)
                        .matcher(annotated)
                        .matches();
    }

    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
