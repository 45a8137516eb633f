package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.autoconfigure.PermitPropertyScan.Found;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.spi.PermitProperty;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Warns about properties that Boot accepts and that are probably mistakes: a duration below a second without a unit, which
 * is one in milliseconds, and a setting of a permit that does not exist.
 */
final class SettingsWarnings {

    private static final Log log = LogFactory.getLog(SettingsWarnings.class);

    private static final Pattern BELOW_A_SECOND = Pattern.compile("0*[1-9]\\d{0,2}");

    /** By name without dashes: the name as it is written. */
    private final Map<String, String> ofPermit = names(component -> true, PermitSettings.class);

    private final Map<String, String> durations = names(
            component -> component.getType() == Duration.class,
            PermitSettings.class,
            DistributedPermitProperties.class,
            ConsulPermitProperties.class,
            PermitLogProperties.class,
            PermitMetricsProperties.class,
            RedisPermitProperties.class,
            ZooKeeperProperties.class);

    private final ConfigurableEnvironment environment;

    /** What was logged already: the settings are read again when they change. Guarded by this. */
    private final Set<String> logged = new HashSet<>();

    SettingsWarnings(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    synchronized void check(PermitPropertyScan scan) {
        Set<String> seen = new HashSet<>();
        for (Found each : scan.found()) {
            // of several sources only the first one counts
            if (seen.add(PermitPropertyScan.relaxed(each.name().toString()))) {
                check(each);
            }
        }
    }

    private void check(Found each) {
        String permit = each.permit();
        if (permit != null && !ofPermit.containsKey(each.property())) {
            Optional<String> nearest = NearestName.of(each.property(), ofPermit.keySet());
            warn("Property '%s' has no effect: permits have no setting '%s'%s. There are %s"
                    .formatted(
                            each.name(),
                            each.property(),
                            nearest.map(name -> "; did you mean " + PermitProperty.of(permit, written(name)) + "?")
                                    .orElse(""),
                            String.join(", ", ofPermit.values())));
        } else if (durations.containsKey(each.property())) {
            String value = text(each.value());
            if (BELOW_A_SECOND.matcher(value).matches()) {
                warn(belowASecond(
                        permit == null ? each.name().toString() : PermitProperty.of(permit, written(each.property())),
                        value));
            }
        }
    }

    private void warn(String message) {
        if (logged.add(message)) {
            log.warn(message);
        }
    }

    private String written(String uniform) {
        return ofPermit.getOrDefault(uniform, uniform);
    }

    private String text(Object value) {
        try {
            return environment.resolvePlaceholders(value.toString()).strip();
        } catch (IllegalArgumentException e) {
            return ""; // the conversion of the value says what is wrong
        }
    }

    private static String belowASecond(String property, String value) {
        return "Property '%s' is '%s' without a unit, which means milliseconds. Write %s=%sms, or %ss for seconds"
                .formatted(property, value, property, value, value);
    }

    private static Map<String, String> names(Predicate<RecordComponent> wanted, Class<?>... types) {
        Map<String, String> names = new TreeMap<>();
        Stream.of(types)
                .flatMap(type -> Stream.of(type.getRecordComponents()))
                .filter(wanted)
                .map(RecordComponent::getName)
                .forEach(name -> names.put(
                        name.toLowerCase(Locale.ROOT),
                        name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT)));
        return names;
    }
}
