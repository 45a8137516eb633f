package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.autoconfigure.PermitPropertyScan.Found;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Warns about properties that Boot accepts and that are probably mistakes: a duration below a second without a unit, which
 * is one in milliseconds, and a setting that does not exist.
 */
final class SettingsWarnings {

    private static final Log log = LogFactory.getLog(SettingsWarnings.class);

    private static final Pattern BELOW_A_SECOND = Pattern.compile("0*[1-9]\\d{0,2}");

    private static final Map<String, String> CONNECTIONS = Map.of(
            "distributed-permit.redis.",
            "spring.data.redis.*",
            "distributed-permit.consul.",
            "spring.cloud.consul.*",
            "distributed-permit.jdbc.",
            "spring.datasource.*");

    private final KnownSettings known = new KnownSettings();
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
        String written = known.written(each);
        if (written == null) {
            checkUnknown(each);
        } else if (known.isDuration(each)) {
            String value = text(each.value());
            if (BELOW_A_SECOND.matcher(value).matches()) {
                warn(belowASecond(written, value));
            }
        }
    }

    private void checkUnknown(Found each) {
        Optional<String> nearest = known.nearest(each);
        boolean emptyGroup = each.permit() == null && text(each.value()).isEmpty() && known.isGroup(each);
        // others make such variables too: those of Kubernetes begin with the name of a service
        boolean foreign = each.permit() == null && each.variable() && nearest.isEmpty();
        if (!emptyGroup && !foreign) {
            warn("Property '%s' has no effect: there is no such setting%s%s"
                    .formatted(
                            each.name(),
                            nearest.map(name -> "; did you mean " + name + "?")
                                    .orElseGet(() -> ". Correct its name, or remove it" + connection(each)),
                            each.permit() == null ? "" : ". Permits have " + String.join(", ", known.ofPermit())));
        }
    }

    /** Where the connection to a store is set, which many look for below the name of this library. */
    private static String connection(Found each) {
        String name = each.name().toString();
        return CONNECTIONS.entrySet().stream()
                .filter(store -> name.startsWith(store.getKey()))
                .map(store -> ". The connection is that of " + store.getValue())
                .findFirst()
                .orElse("");
    }

    private void warn(String message) {
        if (logged.add(message)) {
            log.warn(message);
        }
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
}
