package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitProperty;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Reads an annotation into a {@link PermitDefinition}: resolves placeholders, fills in what is not given, and checks the
 * values. Thread-safe.
 */
final class AnnotationReader {

    /** A longer time-out is a mistake, and arithmetic on nanoseconds stays far from overflow. */
    private static final Duration LONGEST_TIMEOUT = Duration.ofDays(365);

    private static final Log log = LogFactory.getLog(AnnotationReader.class);

    private static final Pattern BELOW_A_SECOND = Pattern.compile("0*[1-9]\\d{0,2}");

    private final ConfigurableBeanFactory beanFactory;

    AnnotationReader(ConfigurableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /**
     * The permit as the annotation declares it.
     *
     * @param key the text of its key, placeholders resolved
     */
    PermitDefinition read(DeclaredPermit declared, String key) {
        DistributedPermit annotation = declared.annotation();
        String origin = declared.fullName();
        String literal = KeyTemplate.isLiteral(key) ? key : null;
        String name = name(declared, literal, origin);
        Integer limit = limit(annotation, name, origin);
        return PermitDefinition.named(name, origin)
                .key(literal)
                .limit(limit)
                .permits(permits(annotation, limit, origin))
                .block(annotation.block())
                .timeout(duration("timeout", annotation.timeout(), origin))
                .onReject(annotation.onReject())
                .holdAtLeast(Objects.requireNonNullElse(
                        duration("holdAtLeast", annotation.holdAtLeast(), origin), Duration.ZERO))
                .onStoreFailure(annotation.onStoreFailure())
                .headStart(headStart(annotation, origin))
                .within(within(annotation, origin))
                .build();
    }

    /** The text of the key, placeholders resolved; the place of the annotation if none is given. */
    String key(DeclaredPermit declared) {
        String origin = declared.fullName();
        String text = declared.annotation().key();
        if (text.isEmpty()) {
            return origin;
        }
        String resolved = resolve("key", text, origin);
        if (resolved.isBlank()) {
            throw new InvalidPermitException(
                    "%s: key '%s' of @DistributedPermit is blank".formatted(origin, text),
                    "Give the text that names what is limited, or leave it out");
        }
        return resolved;
    }

    private String name(DeclaredPermit declared, @Nullable String literal, String origin) {
        DistributedPermit annotation = declared.annotation();
        if (!annotation.name().isEmpty()) {
            return resolve("name", annotation.name(), origin);
        }
        return annotation.key().isEmpty() || literal == null ? declared.shortName() : literal;
    }

    private @Nullable Duration headStart(DistributedPermit annotation, String origin) {
        if (!annotation.headStart().isEmpty() && !annotation.block()) {
            throw new InvalidPermitException(
                    "%s: headStart '%s' of @DistributedPermit has no meaning with block = false"
                            .formatted(origin, annotation.headStart()),
                    "Leave out one of them: a call that does not wait has no place in the queue");
        }
        return KeyTemplate.isLiteral(annotation.headStart())
                ? duration("headStart", annotation.headStart(), origin)
                : null;
    }

    private @Nullable String within(DistributedPermit annotation, String origin) {
        String within = annotation.within();
        if (within.isEmpty()) {
            return null;
        }
        if (!KeyTemplate.isLiteral(within)) {
            throw new InvalidPermitException(
                    "%s: within '%s' of @DistributedPermit is made for each call".formatted(origin, within),
                    "Give the name of a permit, which all its keys share, such as within = \"tenant\"");
        }
        return resolve("within", within, origin);
    }

    /** Resolves placeholders; nothing else in the text is evaluated. */
    String resolve(String attribute, String text, String origin) {
        if (!text.contains("${")) {
            return text;
        }
        try {
            String resolved = beanFactory.resolveEmbeddedValue(text);
            // a context without a strict resolver leaves what it cannot resolve
            if (resolved != null && !resolved.contains("${")) {
                return resolved;
            }
        } catch (IllegalArgumentException e) {
            throw unresolved(attribute, text, origin, e);
        }
        throw unresolved(attribute, text, origin, null);
    }

    private @Nullable Integer limit(DistributedPermit annotation, String name, String origin) {
        boolean asText = !annotation.limitString().isEmpty();
        if (annotation.limit() != DistributedPermit.UNSET) {
            if (asText) {
                throw new InvalidPermitException(
                        "%s: @DistributedPermit has both limit %d and limitString '%s'"
                                .formatted(origin, annotation.limit(), annotation.limitString()),
                        "Give one of them");
            }
            return checkedLimit(annotation.limit(), "limit " + annotation.limit(), name, origin);
        }
        if (!asText) {
            return null;
        }
        if (!KeyTemplate.isLiteral(annotation.limitString())) {
            return PermitDefinition.PER_CALL;
        }
        String resolved = resolve("limitString", annotation.limitString(), origin);
        String said = "limitString '%s'%s"
                .formatted(
                        annotation.limitString(),
                        resolved.equals(annotation.limitString()) ? "" : " (resolved to '" + resolved + "')");
        if (resolved.strip().equalsIgnoreCase("unlimited")) {
            return PermitDefinition.UNLIMITED;
        }
        try {
            return checkedLimit(Integer.parseInt(resolved.strip()), said, name, origin);
        } catch (NumberFormatException e) {
            throw badLimit(said, name, origin);
        }
    }

    private static int checkedLimit(int limit, String said, String name, String origin) {
        if (limit < 1 || limit > PermitDefinition.MAX_LIMIT) {
            throw badLimit(said, name, origin);
        }
        return limit;
    }

    private static int permits(DistributedPermit annotation, @Nullable Integer limit, String origin) {
        int permits = annotation.permits();
        if (permits < 1 || (limit != null && permits > limit)) {
            throw new InvalidPermitException(
                    "%s: one call cannot take %d permits%s"
                            .formatted(origin, permits, limit == null ? "" : " of a limit of " + limit),
                    "Give permits of @DistributedPermit between 1 and the limit");
        }
        return permits;
    }

    private @Nullable Duration duration(String attribute, String text, String origin) {
        if (text.isEmpty()) {
            return null;
        }
        String resolved = resolve(attribute, text, origin).strip();
        Duration duration;
        try {
            duration = DurationFormatterUtils.detectAndParse(resolved);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw badDuration(attribute, text, "is no duration", origin);
        }
        if (BELOW_A_SECOND.matcher(resolved).matches()) {
            log.warn(
                    "%s: %s '%s' of @DistributedPermit has no unit, which means milliseconds. Write %sms, or %ss for seconds"
                            .formatted(origin, attribute, text, resolved, resolved));
        }
        if (duration.isNegative()) {
            throw badDuration(attribute, text, "is negative", origin);
        }
        if (duration.compareTo(LONGEST_TIMEOUT) > 0) {
            throw badDuration(attribute, text, "is longer than a year", origin);
        }
        return duration;
    }

    private static InvalidPermitException badLimit(String said, String name, String origin) {
        return new InvalidPermitException(
                "%s: %s of @DistributedPermit is not between 1 and %d"
                        .formatted(origin, said, PermitDefinition.MAX_LIMIT),
                "Give a whole number in that range, or leave it out and set " + PermitProperty.of(name, "limit"));
    }

    private static InvalidPermitException badDuration(String attribute, String text, String problem, String origin) {
        return new InvalidPermitException(
                "%s: %s '%s' of @DistributedPermit %s".formatted(origin, attribute, text, problem),
                attribute.equals("timeout")
                        ? "Give a duration such as 500ms, 30s or PT30S, or leave it out to wait for ever"
                        : "Give a duration such as 500ms, 30s or PT30S, or leave it out");
    }

    private static InvalidPermitException unresolved(
            String attribute, String text, String origin, @Nullable Throwable cause) {
        return new InvalidPermitException(
                "%s: %s '%s' of @DistributedPermit has a placeholder without a value"
                        .formatted(origin, attribute, text),
                "Set the property, or give a default as in ${my.property:default}",
                cause);
    }
}
