package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Policy;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All settings of permits at one moment, in their order of precedence: limits that code has set, settings of the name,
 * settings of patterns, what the annotation or the code declares, the defaults for all names. Immutable.
 */
final class Rules {

    private final CoreSettings general;
    private final PermitSettings defaults;
    private final SettingsByName named;
    private final Map<String, PermitSettings> limits;
    private final SettingsByName limited;

    private Rules(
            CoreSettings general, PermitSettings defaults, SettingsByName named, Map<String, PermitSettings> limits) {
        this.general = general;
        this.defaults = defaults;
        this.named = named;
        this.limits = limits;
        this.limited = new SettingsByName(limits);
    }

    /** Settings without limits that code has set. */
    static Rules of(CoreSettings general, PermitSettings defaults, Map<String, PermitSettings> named) {
        return new Rules(general, defaults, new SettingsByName(named), Map.of());
    }

    /** The same limits of code with other settings. */
    Rules withSettings(PermitSettings otherDefaults, Map<String, PermitSettings> others) {
        return new Rules(general, otherDefaults, new SettingsByName(others), limits);
    }

    /** The same settings with these limits of code; {@code null} takes one back. */
    Rules withLimits(Map<String, @Nullable Integer> changes) {
        Map<String, PermitSettings> changed = new HashMap<>(limits);
        changes.forEach((name, limit) -> {
            if (limit == null) {
                changed.remove(name);
            } else {
                changed.put(name, PermitSettings.ofLimit(limit));
            }
        });
        return new Rules(general, defaults, named, changed);
    }

    /** Whether there are settings of this name as it is written, not only of a pattern. */
    boolean has(String name) {
        return limited.has(name) || named.has(name);
    }

    /** The name in the settings that would be meant if the code declared this name; {@code null} if there is none. */
    @Nullable
    String sameRelaxed(String name) {
        return named.sameRelaxed(name);
    }

    /** The pattern whose settings apply to the name, {@code null} if there is none. */
    @Nullable
    String patternOf(String name) {
        String pattern = named.patternOf(name);
        return pattern != null ? pattern : limited.patternOf(name);
    }

    /** What is set for a name that the code declares, by patterns too; {@link PermitSettings#NONE} if nothing is. */
    PermitSettings ofDeclared(String name) {
        return merged(limited.findDeclared(name), named.findDeclared(name));
    }

    /** What is set for a name as it is written, by patterns too; {@link PermitSettings#NONE} if nothing is. */
    PermitSettings ofWritten(String name) {
        return merged(limited.findWritten(name), named.findWritten(name));
    }

    private static PermitSettings merged(@Nullable PermitSettings code, @Nullable PermitSettings set) {
        if (code != null && set != null) {
            return code.orElse(set);
        }
        return code != null ? code : set != null ? set : PermitSettings.NONE;
    }

    /**
     * The declaration as it takes effect.
     *
     * @throws IllegalArgumentException if nothing gives it a limit, or if the limit does not suit it
     */
    PermitDefinition effective(PermitDefinition declared) {
        return effective(declared, ofDeclared(declared.name()));
    }

    /**
     * The definition of a name that the settings alone give.
     *
     * @throws IllegalArgumentException if they give it no limit
     */
    PermitDefinition ofSettings(String name) {
        return effective(PermitDefinition.named(name, PermitDefinition.SETTINGS).build(), ofWritten(name));
    }

    private PermitDefinition effective(PermitDefinition declared, PermitSettings settings) {
        PermitDefinition effective = complete(settings, declared).over(declared);
        if (effective.limit() == null) {
            throw new IllegalArgumentException("%s: nothing gives permit '%s' a limit; set %s or the annotation's limit"
                    .formatted(declared.origin(), declared.name(), PermitProperty.of(declared.name(), "limit")));
        }
        return effective;
    }

    /** What each place says, in their order of precedence. */
    private PermitSettings complete(PermitSettings settings, PermitDefinition declared) {
        return settings.orElse(PermitSettings.of(declared)).orElse(defaults).orElse(general.permits());
    }

    /**
     * What the calls of a name go by.
     *
     * @param effective its definition as it takes effect
     * @param settings those of the name
     */
    Policy policy(PermitDefinition effective, PermitSettings settings) {
        return Policy.of(general, PermitSettings.of(effective).orElse(complete(settings, effective)));
    }

    /** The names and patterns that have settings. */
    Map<String, PermitSettings> settings() {
        Map<String, PermitSettings> all = new HashMap<>(named.all());
        limits.forEach((name, limit) -> all.merge(name, limit, (set, code) -> code.orElse(set)));
        return all;
    }

    /** The names in the settings, without patterns, that are neither among those in use nor mean a declared one. */
    List<String> without(Set<String> used, Set<String> declared) {
        return named.without(used, declared);
    }
}
