package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.core.PermitSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the settings of a permit by its name: those of exactly that name, else those whose name is the same in the relaxed
 * form of Spring Boot, since environment variables have neither dashes nor lower case. Immutable.
 */
final class SettingsByName {

    private final Map<String, PermitSettings> exact;
    private final Map<String, PermitSettings> relaxed = new LinkedHashMap<>();

    SettingsByName(Map<String, PermitSettings> settings) {
        exact = new LinkedHashMap<>(settings);
        exact.forEach((name, each) -> relaxed.putIfAbsent(relax(name), each));
    }

    @Nullable
    PermitSettings find(String name) {
        PermitSettings found = exact.get(name);
        return found != null ? found : relaxed.get(relax(name));
    }

    /** The names that have settings, without those that settle a permit of one of these names. */
    List<String> without(Set<String> names) {
        Set<String> used = names.stream().map(SettingsByName::relax).collect(Collectors.toSet());
        return exact.keySet().stream()
                .filter(name -> !used.contains(relax(name)))
                .toList();
    }

    /** Lower case, letters, digits and dots; a name that has none of these stays as it is. */
    private static String relax(String name) {
        StringBuilder form = new StringBuilder();
        name.toLowerCase(Locale.ROOT)
                .codePoints()
                .filter(each -> Character.isLetterOrDigit(each) || each == '.')
                .forEach(form::appendCodePoint);
        return form.isEmpty() ? name : form.toString();
    }
}
