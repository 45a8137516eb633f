package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Reads the attributes that are text, and checks the values. */
final class AnnotationText {

    /** Beyond it nobody waits for a time but for ever, and arithmetic on nanoseconds stays far from overflow. */
    private static final Duration LONGEST_TIMEOUT = Duration.ofDays(365);

    private final ConfigurableBeanFactory beanFactory;

    AnnotationText(ConfigurableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
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

    @Nullable
    Integer limit(DistributedPermit annotation, String origin) {
        boolean asText = !annotation.limitString().isEmpty();
        if (annotation.limit() != DistributedPermit.UNSET) {
            if (asText) {
                throw new InvalidPermitException(
                        "%s: @DistributedPermit has both limit %d and limitString '%s'"
                                .formatted(origin, annotation.limit(), annotation.limitString()),
                        "Give one of them");
            }
            return checkedLimit(annotation.limit(), "limit " + annotation.limit(), origin);
        }
        if (!asText) {
            return null;
        }
        String resolved = resolve("limitString", annotation.limitString(), origin);
        String said = "limitString '%s'%s"
                .formatted(
                        annotation.limitString(),
                        resolved.equals(annotation.limitString()) ? "" : " (resolved to '" + resolved + "')");
        try {
            return checkedLimit(Integer.parseInt(resolved.strip()), said, origin);
        } catch (NumberFormatException e) {
            throw badLimit(said, origin);
        }
    }

    private static int checkedLimit(int limit, String said, String origin) {
        if (limit < 1 || limit > PermitDefinition.MAX_LIMIT) {
            throw badLimit(said, origin);
        }
        return limit;
    }

    int permits(DistributedPermit annotation, @Nullable Integer limit, String origin) {
        int permits = annotation.permits();
        if (permits < 1 || (limit != null && permits > limit)) {
            throw new InvalidPermitException(
                    "%s: one call cannot take %d permits%s"
                            .formatted(origin, permits, limit == null ? "" : " of a limit of " + limit),
                    "Give permits of @DistributedPermit between 1 and the limit");
        }
        return permits;
    }

    @Nullable
    Duration timeout(DistributedPermit annotation, String origin) {
        if (annotation.timeout().isEmpty()) {
            return null;
        }
        Duration timeout;
        try {
            timeout = DurationFormatterUtils.detectAndParse(resolve("timeout", annotation.timeout(), origin));
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw badTimeout(annotation.timeout(), "is no duration", origin);
        }
        if (timeout.isNegative()) {
            throw badTimeout(annotation.timeout(), "is negative", origin);
        }
        if (timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw badTimeout(annotation.timeout(), "is longer than a year", origin);
        }
        return timeout;
    }

    private static InvalidPermitException badLimit(String said, String origin) {
        return new InvalidPermitException(
                "%s: %s of @DistributedPermit is not between 1 and %d"
                        .formatted(origin, said, PermitDefinition.MAX_LIMIT),
                "Give a whole number in that range, or leave it out and set"
                        + " distributed-permit.permits.<name>.limit");
    }

    private static InvalidPermitException badTimeout(String text, String problem, String origin) {
        return new InvalidPermitException(
                "%s: timeout '%s' of @DistributedPermit %s".formatted(origin, text, problem),
                "Give a duration such as 500ms, 30s or PT30S, or leave it out to wait for ever");
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
