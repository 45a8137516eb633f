package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.autoconfigure.PermitPropertyScan.Found;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.spi.PermitProperty;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The names of all settings below {@code distributed-permit}. Immutable. */
final class KnownSettings {

    private static final String PREFIX = "distributed-permit.";
    private static final String PERMITS = "permits";
    /** They have names of other things below them. */
    private static final Set<String> MAPS = Set.of("http", "executors");

    /** Settings whose class needs optional libraries. */
    private static final List<String> OTHERS = List.of("jdbc.initialize-schema", "jdbc.table-prefix");

    /** By name in lower case without dashes: the name as it is written. */
    private final Map<String, String> general = new TreeMap<>();

    private final Map<String, String> ofPermit = new TreeMap<>();
    private final Set<String> durations = new HashSet<>();

    KnownSettings() {
        OTHERS.forEach(name -> general.put(uniform(name), name));
        add(DistributedPermitProperties.class, "", general);
        List.of("limit", "block", "within", "headstart", "holdatleast", "onreject")
                .forEach(ofSingleName -> general.remove("defaults." + ofSingleName));
        add(PermitSettings.class, "", ofPermit);
    }

    private void add(Class<?> type, String prefix, Map<String, String> names) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + component.getName().replaceAll("([A-Z])", "-$1");
            if (component.getType() == PermitSettings.class
                    || component.getType().getEnclosingClass() == DistributedPermitProperties.class) {
                add(component.getType(), name + ".", names);
                continue;
            }
            names.put(uniform(name), name.toLowerCase(Locale.ROOT));
            if (component.getType() == Duration.class) {
                durations.add(uniform(name));
            }
        }
    }

    private static String uniform(String name) {
        return name.toLowerCase(Locale.ROOT).replace("-", "");
    }

    /** The settings that a permit has. */
    Collection<String> ofPermit() {
        return ofPermit.values();
    }

    /** All settings, without those of single permits. */
    Collection<String> general() {
        return general.values();
    }

    /** The whole name of the setting as it is written, {@code null} if there is none of this name. */
    @Nullable
    String written(Found property) {
        if (property.permit() != null) {
            String setting = ofPermit.get(property.property());
            return setting == null ? null : PermitProperty.of(property.permit(), setting);
        }
        if (property.path().size() == 2 && MAPS.contains(property.path().get(0))) {
            return property.name().toString(); // the name of a group or a bean
        }
        String name = uniform(property);
        return name == null ? null : PREFIX + general.get(name);
    }

    boolean isDuration(Found property) {
        return durations.contains(property.permit() != null ? property.property() : uniform(property));
    }

    private @Nullable String uniform(Found property) {
        String path = String.join(".", property.path());
        if (general.containsKey(path)) {
            return path;
        }
        String letters = String.join("", property.path());
        return property.variable()
                ? general.keySet().stream()
                        .filter(each -> each.replace(".", "").equals(letters))
                        .findFirst()
                        .orElse(null)
                : null;
    }

    /** Whether settings are below this name, which has a value of its own where it is an empty map. */
    boolean isGroup(Found property) {
        String group = String.join(".", property.path()) + ".";
        return property.path().get(0).equals(PERMITS)
                || general.keySet().stream().anyMatch(each -> each.startsWith(group));
    }

    /** The whole name of the setting that an unknown one probably means. */
    Optional<String> nearest(Found unknown) {
        if (unknown.permit() != null) {
            return nearest(unknown.permit(), unknown.property());
        }
        List<String> path = unknown.path();
        if (path.size() > 2 && isSimilar(path.get(0), PERMITS)) {
            return nearest(String.join(".", path.subList(1, path.size() - 1)), unknown.property());
        }
        List<String> similar =
                general.values().stream().filter(name -> isSimilar(path, name)).toList();
        return NearestName.of(String.join(".", path), similar)
                .map(name -> PREFIX + name)
                .or(() -> elsewhere(unknown.property()));
    }

    private Optional<String> nearest(String permit, String property) {
        return NearestName.of(property, ofPermit.values()).map(setting -> PermitProperty.of(permit, setting));
    }

    /** Each part is compared for itself: long names of one group are similar as a whole, such as those of two defaults. */
    private static boolean isSimilar(List<String> path, String name) {
        List<String> parts = List.of(name.split("\\."));
        return parts.size() == path.size()
                ? IntStream.range(0, parts.size()).allMatch(i -> isSimilar(path.get(i), parts.get(i)))
                : isSimilar(String.join(".", path), name);
    }

    private static boolean isSimilar(String mistyped, String name) {
        return NearestName.of(mistyped, List.of(name)).isPresent();
    }

    /** A setting of a similar name at another place. */
    private Optional<String> elsewhere(String setting) {
        Map<String, String> places = new TreeMap<>();
        general.values().stream()
                .filter(name -> name.contains("."))
                .forEach(name -> places.putIfAbsent(name.substring(name.lastIndexOf('.') + 1), name));
        ofPermit.values().forEach(name -> places.putIfAbsent(name, PERMITS + ".<name>." + name));
        return NearestName.of(setting, places.keySet()).map(name -> PREFIX + places.get(name));
    }
}
