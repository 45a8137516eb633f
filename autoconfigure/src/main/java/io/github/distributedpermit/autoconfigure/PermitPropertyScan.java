package io.github.distributedpermit.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * All properties of this library that the environment lists, those of the highest precedence first. Also finds what Boot
 * does not bind to a map: environment variables that begin with {@code DISTRIBUTED_PERMIT_PERMITS}, and permit names with
 * dots that are not in brackets.
 */
final class PermitPropertyScan {

    private static final String PERMITS = "permits";

    private final List<Found> found = new ArrayList<>();

    PermitPropertyScan(ConfigurableEnvironment environment) {
        int number = 0;
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            if (source instanceof IterableConfigurationPropertySource iterable) {
                int each = number++;
                iterable.stream().forEach(name -> add(name, iterable, each));
            }
        }
    }

    List<Found> found() {
        return found;
    }

    private void add(ConfigurationPropertyName name, ConfigurationPropertySource source, int number) {
        int prefix = prefix(name);
        int last = name.getNumberOfElements() - 1;
        if (prefix < 0 || last < prefix) {
            return;
        }
        boolean ofPermit =
                last - prefix >= 2 && name.getElement(prefix, Form.UNIFORM).equals(PERMITS);
        String permit = ofPermit
                ? IntStream.range(prefix + 1, last)
                        .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                        .collect(Collectors.joining("."))
                : null;
        var property = source.getConfigurationProperty(name);
        if (property != null) {
            boolean variable = source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
            found.add(new Found(name, path(name, prefix), permit, property.getValue(), number, variable));
        }
    }

    private static List<String> path(ConfigurationPropertyName name, int prefix) {
        return IntStream.range(prefix, name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                .toList();
    }

    /** How many elements {@code distributed-permit} takes, as an environment variable or in another way; -1 for other names. */
    private static int prefix(ConfigurationPropertyName name) {
        int elements = name.getNumberOfElements();
        if (elements > 0 && name.getElement(0, Form.UNIFORM).equals("distributedpermit")) {
            return 1;
        }
        boolean variable = elements > 1
                && name.getElement(0, Form.UNIFORM).equals("distributed")
                && name.getElement(1, Form.UNIFORM).equals("permit");
        return variable ? 2 : -1;
    }

    /**
     * One property of one source.
     *
     * @param name as in the source
     * @param path the parts of the name below {@code distributed-permit}, lower case without dashes
     * @param permit the name of the permit that it is for, {@code null} for a general setting
     * @param value before placeholders are resolved
     * @param source the number of its source, the highest precedence first
     * @param variable whether it is an environment variable, whose parts may be separated where a property has a dash
     */
    record Found(
            ConfigurationPropertyName name,
            List<String> path,
            @Nullable String permit,
            Object value,
            int source,
            boolean variable) {

        /** The last part of the name, lower case without dashes. */
        String property() {
            return path.get(path.size() - 1);
        }
    }

    /** A name as it is compared: lower case, letters, digits and dots. */
    static String relaxed(String name) {
        String form = name.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}.*]", "");
        return form.isEmpty() ? name : form;
    }
}
