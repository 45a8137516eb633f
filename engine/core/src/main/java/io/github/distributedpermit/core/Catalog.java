package io.github.distributedpermit.core;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The names this application knows, with the settings merged over what was declared. Thread-safe. */
final class Catalog implements PermitCatalog {

    private static final String FROM_SETTINGS = "the settings";

    private final CoreSettings defaults;
    private final Map<String, PermitSettings> settings;
    private final long backendSlice;
    private final Optional<Duration> session;
    private final PermitObserver observer;
    private final ConcurrentMap<String, NameUse> uses = new ConcurrentHashMap<>();
    private final Map<String, PermitDefinition> byKey = new HashMap<>();

    Catalog(
            CoreSettings defaults,
            Map<String, PermitSettings> settings,
            long backendSlice,
            Optional<Duration> session,
            PermitObserver observer) {
        this.defaults = defaults;
        this.settings = Map.copyOf(settings);
        this.backendSlice = backendSlice;
        this.session = session;
        this.observer = observer;
    }

    /** What calls of the name go by. */
    NameUse use(String name) {
        if (name == null) {
            throw new IllegalArgumentException("The name of a permit must not be null");
        }
        NameUse use = uses.get(name);
        if (use != null) {
            return use;
        }
        if (settings.containsKey(name)) {
            define(new PermitDefinition(name, null, null, 1, true, null, FROM_SETTINGS));
            return Objects.requireNonNull(uses.get(name));
        }
        throw new IllegalArgumentException("No limit for a permit named '%s'; set distributed-permit.permits.%s.limit"
                .formatted(Text.escape(name), Text.escape(name)));
    }

    @Override
    public synchronized PermitDefinition define(PermitDefinition declared) {
        PermitDefinition effective = merge(declared);
        NameUse known = uses.get(declared.name());
        if (known != null) {
            checkSameLimit(known.definition, effective, "name '" + declared.name() + "'");
        }
        if (effective.key() != null) {
            PermitDefinition sameKey = byKey.putIfAbsent(effective.key(), effective);
            if (sameKey != null) {
                checkSameLimit(sameKey, effective, "key '" + Text.escape(effective.key()) + "'");
            }
        }
        if (known == null) {
            NameUse use = new NameUse(effective, policy(effective));
            uses.put(effective.name(), use);
            observer.named(use);
        }
        return effective;
    }

    private PermitDefinition merge(PermitDefinition declared) {
        PermitSettings set = settings.get(declared.name());
        Integer limit = set != null && set.limit() != null ? set.limit() : declared.limit();
        if (limit == null) {
            throw new IllegalArgumentException(
                    "%s: nothing gives permit '%s' a limit; set distributed-permit.permits.%s.limit or the annotation's limit"
                            .formatted(declared.origin(), declared.name(), declared.name()));
        }
        boolean block = set != null && set.block() != null ? set.block() : declared.block();
        return new PermitDefinition(
                declared.name(),
                declared.key(),
                limit,
                declared.permits(),
                block,
                set != null && set.timeout() != null ? set.timeout() : declared.timeout(),
                declared.origin());
    }

    private static void checkSameLimit(PermitDefinition one, PermitDefinition other, String what) {
        if (!Objects.equals(one.limit(), other.limit())) {
            throw new IllegalArgumentException(
                    "%s gives %s a limit of %d, but %s gives it %d; use one limit, or set it under distributed-permit.permits.%s.limit"
                            .formatted(other.origin(), what, other.limit(), one.origin(), one.limit(), other.name()));
        }
    }

    private Policy policy(PermitDefinition definition) {
        PermitSettings set = settings.get(definition.name());
        PermitSettings own = set != null ? set : new PermitSettings(null, null, null, null, null, null, null, null);
        long slice = defaults.handOverSlice() != null ? defaults.handOverSlice().toNanos() : backendSlice;
        long lease =
                own.lease() != null ? own.lease().toNanos() : defaults.lease().toNanos();
        return new Policy(
                Objects.requireNonNull(definition.limit()),
                session.map(Duration::toNanos).orElse(lease),
                defaults.commandTimeout().toNanos(),
                (own.storeTimeout() != null ? own.storeTimeout() : defaults.storeTimeout()).toNanos(),
                defaults.recheck().toNanos(),
                own.handOverSlice() != null ? own.handOverSlice().toNanos() : slice,
                (own.linger() != null ? own.linger() : defaults.linger()).toNanos(),
                defaults.window(),
                defaults.maxWaiters(),
                own.release() != null ? own.release() : defaults.release());
    }

    @Override
    public Optional<PermitDefinition> find(String name) {
        if (uses.containsKey(name) || settings.containsKey(name)) {
            return Optional.of(use(name).definition);
        }
        return Optional.empty();
    }

    @Override
    public Collection<PermitDefinition> definitions() {
        settings.keySet().forEach(name -> {
            PermitSettings set = settings.get(name);
            if (set != null && set.limit() != null) {
                use(name);
            }
        });
        return uses.values().stream().map(use -> use.definition).toList();
    }
}
