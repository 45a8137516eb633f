package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.PermitSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * The settings that may change while the application runs: those of names and patterns, and the defaults. Immutable.
 *
 * @param defaults for all names
 * @param named by name or pattern
 */
record NamedSettings(PermitSettings defaults, Map<String, PermitSettings> named) {

    /**
     * Reads them from the environment as it is now.
     *
     * @param reader checks them
     * @param warnings logs what is probably a mistake
     */
    static NamedSettings read(ConfigurableEnvironment environment, SettingsReader reader, SettingsWarnings warnings) {
        Binder binder = Binder.get(environment);
        Map<String, PermitSettings> bound = binder.bind(
                        "distributed-permit.permits", Bindable.mapOf(String.class, PermitSettings.class))
                .orElseGet(Map::of);
        PermitSettings defaults =
                binder.bind("distributed-permit.defaults", PermitSettings.class).orElse(PermitSettings.NONE);
        return of(defaults, bound, environment, reader, warnings);
    }

    /** The same, as Boot has bound them at start. */
    static NamedSettings of(
            PermitSettings defaults,
            Map<String, PermitSettings> bound,
            ConfigurableEnvironment environment,
            SettingsReader reader,
            SettingsWarnings warnings) {
        PermitPropertyScan scan = new PermitPropertyScan(environment);
        warnings.check(scan);
        PermitSettings checkedDefaults = reader.defaults(defaults);
        Map<String, PermitSettings> named = reader.named(new NamedSettingsReader(environment, scan).read(bound));
        return new NamedSettings(checkedDefaults, named);
    }

    /** The store time-outs of all names. */
    Stream<Duration> storeTimeouts() {
        return Stream.concat(Stream.of(defaults), named.values().stream())
                .map(PermitSettings::storeTimeout)
                .filter(Objects::nonNull);
    }
}
