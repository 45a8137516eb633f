package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.LogSafe;
import io.github.distributedpermit.core.key.PermitStats;
import io.github.distributedpermit.core.key.Policy;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.PermitProperty;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

/**
 * The permits of this application by name: merges the settings over what annotations and code declare, and refuses
 * declarations that contradict each other. Thread-safe; definitions are rare, look-ups take no lock.
 */
final class Catalog implements PermitCatalog {

    private static final String FROM_SETTINGS = "the settings";

    private final CoreSettings general;
    private final SettingsByName settings;
    private final long backendSlice;
    private final Optional<Duration> session;
    private final PermitObserver observer;
    private final ConcurrentMap<String, PermitStats> byName = new ConcurrentHashMap<>();
    private final Map<String, PermitDefinition> byKey = new HashMap<>();

    Catalog(
            CoreSettings general,
            Map<String, PermitSettings> settings,
            long backendSlice,
            Optional<Duration> session,
            PermitObserver observer) {
        this.general = general;
        this.settings = new SettingsByName(settings);
        this.backendSlice = backendSlice;
        this.session = session;
        this.observer = observer;
    }

    /** The permit of this name, from a declaration or from the settings alone. */
    PermitStats stats(String name) {
        if (name == null) {
            throw new IllegalArgumentException("The name of a permit must not be null");
        }
        PermitStats stats = byName.get(name);
        if (stats != null) {
            return stats;
        }
        if (settings.find(name) != null) {
            define(PermitDefinition.named(name, FROM_SETTINGS).build());
            return Objects.requireNonNull(byName.get(name));
        }
        throw new IllegalArgumentException("No limit for a permit named '%s'; set %s"
                .formatted(LogSafe.escape(name), PermitProperty.of(name, "limit")));
    }

    @Override
    public synchronized PermitDefinition define(PermitDefinition declared) {
        PermitDefinition effective = merge(declared);
        PermitStats known = byName.get(declared.name());
        if (known != null) {
            checkSameLimit(known.definition, effective, "name '" + declared.name() + "'");
        }
        if (effective.key() != null) {
            PermitDefinition sameKey = byKey.putIfAbsent(effective.key(), effective);
            if (sameKey != null) {
                checkSameLimit(sameKey, effective, "key '" + LogSafe.escape(effective.key()) + "'");
            }
        }
        if (known == null) {
            PermitStats stats = new PermitStats(effective, policy(effective));
            byName.put(effective.name(), stats);
            observer.named(stats);
        }
        return effective;
    }

    private PermitDefinition merge(PermitDefinition declared) {
        PermitDefinition effective = settingsOf(declared.name()).over(declared);
        if (effective.limit() == null) {
            throw new IllegalArgumentException("%s: nothing gives permit '%s' a limit; set %s or the annotation's limit"
                    .formatted(declared.origin(), declared.name(), PermitProperty.of(declared.name(), "limit")));
        }
        return effective;
    }

    private PermitSettings settingsOf(String name) {
        PermitSettings set = settings.find(name);
        return set == null ? PermitSettings.NONE : set;
    }

    private static void checkSameLimit(PermitDefinition one, PermitDefinition other, String what) {
        if (!Objects.equals(one.limit(), other.limit())) {
            throw new IllegalArgumentException("%s gives %s a limit of %d, but %s gives it %d; use one limit, or set %s"
                    .formatted(
                            other.origin(),
                            what,
                            other.limit(),
                            one.origin(),
                            one.limit(),
                            PermitProperty.of(other.name(), "limit")));
        }
    }

    /** All settings merged. The length of the session takes the place of the lease in a store with sessions. */
    private Policy policy(PermitDefinition definition) {
        CoreSettings effective = settingsOf(definition.name()).over(general);
        if (session.isPresent()) {
            effective = effective.toBuilder().lease(session.get()).build();
        }
        return Policy.of(Objects.requireNonNull(definition.limit()), effective, backendSlice);
    }

    @Override
    public Optional<PermitDefinition> find(String name) {
        if (byName.containsKey(name) || settings.find(name) != null) {
            return Optional.of(stats(name).definition);
        }
        return Optional.empty();
    }

    @Override
    public Collection<PermitDefinition> definitions() {
        Stream<PermitDefinition> unused = unusedSettings().stream()
                .filter(name -> settingsOf(name).limit() != null)
                .map(name -> merge(PermitDefinition.named(name, FROM_SETTINGS).build()));
        return Stream.concat(byName.values().stream().map(stats -> stats.definition), unused)
                .toList();
    }

    /** The names that have settings, but no declaration and no call so far. */
    List<String> unusedSettings() {
        return settings.without(byName.keySet());
    }

    /** The names that are declared, or that a call has used. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }
}
