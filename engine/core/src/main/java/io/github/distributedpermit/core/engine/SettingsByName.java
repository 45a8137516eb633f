package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.core.PermitSettings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the settings of a permit by its name: those of exactly that name, and for a name that the code declares else those
 * whose name is the same in the relaxed form of Spring Boot, since environment variables have neither dashes nor lower case.
 * A name that is made at run time may have been made from data, in which {@code 4-2} and {@code 42} are two things. What the
 * settings of the name leave open is taken from the patterns that match the name as it is, such as {@code tenant-*}; the one
 * with the most letters first. Immutable.
 */
final class SettingsByName {

    private static final char ANY_TEXT = '*';

    private final Map<String, PermitSettings> exact = new LinkedHashMap<>();
    private final Map<String, PermitSettings> relaxed = new LinkedHashMap<>();
    private final List<NamePattern> patterns = new ArrayList<>();

    SettingsByName(Map<String, PermitSettings> settings) {
        settings.forEach((name, each) -> {
            if (isPattern(name)) {
                patterns.add(NamePattern.of(name, each));
            } else {
                exact.put(name, each);
                relaxed.putIfAbsent(relax(name), each);
            }
        });
        patterns.sort(Comparator.comparingInt(NamePattern::letters).reversed().thenComparing(NamePattern::text));
    }

    static boolean isPattern(String name) {
        return name.indexOf(ANY_TEXT) >= 0;
    }

    /** The settings of a name that the code declares, with those of patterns. */
    @Nullable
    PermitSettings findDeclared(String name) {
        PermitSettings found = exact.get(name);
        return withPatterns(name, found != null || isPattern(name) ? found : relaxed.get(relax(name)));
    }

    /** The settings of a name as it is written, with those of patterns. */
    @Nullable
    PermitSettings findWritten(String name) {
        return withPatterns(name, exact.get(name));
    }

    private @Nullable PermitSettings withPatterns(String name, @Nullable PermitSettings ofName) {
        PermitSettings found = ofName;
        for (NamePattern pattern : patterns) {
            if (pattern.matches(name)) {
                found = found == null ? pattern.settings : found.orElse(pattern.settings);
            }
        }
        return found;
    }

    /** Whether the name as it is written has settings of its own, not only those of patterns. */
    boolean has(String name) {
        return exact.containsKey(name);
    }

    /** The name in the settings that is the same in the relaxed form; {@code null} if there is none. */
    @Nullable
    String sameRelaxed(String name) {
        String form = relax(name);
        return exact.keySet().stream()
                .filter(each -> relax(each).equals(form))
                .findFirst()
                .orElse(null);
    }

    /** The first pattern that matches the name, {@code null} if none does. */
    @Nullable
    String patternOf(String name) {
        for (NamePattern pattern : patterns) {
            if (pattern.matches(name)) {
                return pattern.text;
            }
        }
        return null;
    }

    /** The names that have settings, without patterns and without those that settle a permit of one of these names. */
    List<String> without(Set<String> written, Set<String> declared) {
        Set<String> used = declared.stream().map(SettingsByName::relax).collect(Collectors.toSet());
        return exact.keySet().stream()
                .filter(name -> !written.contains(name) && !used.contains(relax(name)))
                .toList();
    }

    /** All names and patterns with their own settings. */
    Map<String, PermitSettings> all() {
        Map<String, PermitSettings> all = new LinkedHashMap<>(exact);
        patterns.forEach(pattern -> all.put(pattern.text, pattern.settings));
        return all;
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

    /** A name in which {@code *} stands for any text. */
    private record NamePattern(String text, int letters, Pattern names, PermitSettings settings) {

        static NamePattern of(String text, PermitSettings settings) {
            String expression =
                    Stream.of(text.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
            return new NamePattern(
                    text,
                    text.replace(String.valueOf(ANY_TEXT), "").length(),
                    Pattern.compile(expression, Pattern.DOTALL),
                    settings);
        }

        boolean matches(String name) {
            return names.matcher(name).matches();
        }
    }
}
