package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.autoconfigure.PermitPropertyScan.Found;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Reads the settings of single permits. Spellings of one name that are the same in Boot's relaxed form are one permit, whose
 * properties come from all sources by precedence. Two spellings in one source are two permits, which exact names tell
 * apart.
 */
final class NamedSettingsReader {

    private final Map<String, Group> groups = new LinkedHashMap<>();
    private final Binder binder;

    NamedSettingsReader(ConfigurableEnvironment environment, PermitPropertyScan scan) {
        Map<String, Object> flat = new LinkedHashMap<>();
        for (Found each : scan.found()) {
            String permit = each.permit();
            if (permit != null) {
                groups.computeIfAbsent(PermitPropertyScan.relaxed(permit), relaxed -> new Group(permit))
                        .add(each, permit, flat);
            }
        }
        binder = new Binder(
                Set.of(new MapConfigurationPropertySource(flat)), new PropertySourcesPlaceholdersResolver(environment));
    }

    /**
     * The settings by permit name.
     *
     * @param bound as Boot has bound them, each under its exact name
     */
    Map<String, PermitSettings> read(Map<String, PermitSettings> bound) {
        Map<String, PermitSettings> all = new LinkedHashMap<>();
        Map<String, PermitSettings> merged = new HashMap<>();
        groups.forEach((relaxed, group) -> {
            if (!group.isAmbiguous()) {
                binder.bind(ConfigurationPropertyName.adapt(group.root(), '.'), Bindable.of(PermitSettings.class))
                        .ifBound(settings -> merged.put(relaxed, settings));
            }
        });
        bound.forEach(
                (name, settings) -> all.put(name, merged.getOrDefault(PermitPropertyScan.relaxed(name), settings)));
        groups.forEach((relaxed, group) -> {
            PermitSettings settings = merged.get(relaxed);
            if (settings != null && !bound.containsKey(group.name)) {
                all.putIfAbsent(group.name, settings);
            }
        });
        return all;
    }

    /** The spellings of one name, in their relaxed form. */
    private static final class Group {

        private final String name;
        private final Map<String, Set<String>> spellings = new HashMap<>();

        Group(String name) {
            this.name = name;
        }

        void add(Found each, String permit, Map<String, Object> flat) {
            spellings
                    .computeIfAbsent(each.source() + each.property(), key -> new HashSet<>())
                    .add(permit);
            flat.putIfAbsent(root() + "." + each.property(), each.value());
        }

        boolean isAmbiguous() {
            return spellings.values().stream().anyMatch(names -> names.size() > 1);
        }

        /** Names the permit in messages of a value that cannot be converted. */
        String root() {
            String property = PermitProperty.of(name, "x");
            return property.substring(0, property.length() - 2);
        }
    }
}
