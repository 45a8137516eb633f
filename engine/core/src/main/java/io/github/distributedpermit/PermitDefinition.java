package io.github.distributedpermit;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A permit as declared in one place.
 *
 * @param name what settings and metrics call it
 * @param key the literal key, {@code null} if it is made for each call
 * @param limit how many permits a key has, {@code null} if the settings have to say
 * @param permits how many of them one call takes
 * @param block whether a call waits
 * @param timeout how long it waits at most, {@code null} for ever
 * @param origin where it was declared, for messages, such as {@code ReportService.export(long)}
 */
public record PermitDefinition(
        String name,
        @Nullable String key,
        @Nullable Integer limit,
        int permits,
        boolean block,
        @Nullable Duration timeout,
        String origin) {

    /** The highest limit of a key. */
    public static final int MAX_LIMIT = 1_000_000;

    /** Checks the values; messages name the origin. */
    public PermitDefinition {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(origin, "origin");
        if (name.isBlank()) {
            throw new IllegalArgumentException(origin + ": the name of a permit must not be blank");
        }
        if (limit != null && (limit < 1 || limit > MAX_LIMIT)) {
            throw new IllegalArgumentException(
                    "%s: limit %d of permit '%s' is not between 1 and %d".formatted(origin, limit, name, MAX_LIMIT));
        }
        if (permits < 1 || (limit != null && permits > limit)) {
            throw new IllegalArgumentException(
                    "%s: a call of permit '%s' cannot take %d permits; give 1 up to the limit%s"
                            .formatted(origin, name, permits, limit == null ? "" : " of " + limit));
        }
        if (timeout != null && timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "%s: time-out %s of permit '%s' is negative; give zero or more".formatted(origin, timeout, name));
        }
    }
}
