package io.github.distributedpermit.endpoint;

import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.convert.DurationStyle;

/**
 * What an operator wants to change. Values that came as text are read here, because a failing conversion of Spring Boot would be
 * answered without its reason. Immutable.
 *
 * @param key by default the one of all calls of the permit
 * @param limit 0 pauses
 * @param evict the id of a member
 * @param call the number of a call of this instance
 * @param reason why; for the log, the other operators and the audit
 * @param lasts after this time the limit ends by itself; zero for never
 * @param create whether the key may be one that nothing uses yet
 * @param by who wants it; empty if that is unknown
 */
record Order(
        @Nullable String key,
        @Nullable Integer limit,
        @Nullable String evict,
        @Nullable Long call,
        String reason,
        Duration lasts,
        boolean create,
        String by) {

    /** Such as {@code 1d12h} or {@code 9m30s}. */
    private static final Pattern UNITS =
            Pattern.compile("(?<days>\\d+d)?(?<time>(?=\\d)(\\d+h)?(\\d+m)?(\\d+s)?)", Pattern.CASE_INSENSITIVE);

    static Order of(
            @Nullable String key,
            @Nullable String limit,
            @Nullable String evict,
            @Nullable String call,
            @Nullable String reason,
            @Nullable String lasts,
            @Nullable String create,
            @Nullable String by) {
        return new Order(
                key,
                read("limit", "a whole number from 0, which pauses", limit, Integer::valueOf),
                evict,
                call("call", call),
                text(reason),
                lasts(lasts),
                "true".equals(text(create).toLowerCase(Locale.ROOT)),
                text(by));
    }

    static @Nullable Integer number(String name, @Nullable String value) {
        return read(name, "a whole number", value, Integer::valueOf);
    }

    static @Nullable Long call(String name, @Nullable String value) {
        return read(name, "the number of a call, as in 'call' of a GET", value, Long::valueOf);
    }

    private static Duration lasts(@Nullable String value) {
        Duration lasts = read("lasts", "a time such as 30m, 9m30s, 8h or PT30M", value, Order::time);
        if (lasts != null && (lasts.toDays() > 366 || lasts.toSeconds() < 1)) {
            throw new InvalidEndpointRequestException(
                    "lasts is " + value,
                    "'lasts' has to be from 1s to 366d; leave it out for a limit that does not end by itself");
        }
        return lasts == null ? Duration.ZERO : lasts;
    }

    /** What Spring Boot reads, and several units one after another. */
    private static Duration time(String value) {
        Matcher units = UNITS.matcher(value);
        return DurationStyle.detectAndParse(
                units.matches() ? "P" + text(units.group("days")) + "T" + units.group("time") : value);
    }

    private static <T> @Nullable T read(String name, String form, @Nullable String value, Function<String, T> reader) {
        try {
            return value == null ? null : reader.apply(value.trim());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new InvalidEndpointRequestException(
                    name + " is no " + form, "'%s' has to be %s, not '%s'".formatted(name, form, value), e);
        }
    }

    private static String text(@Nullable String value) {
        return value == null ? "" : value;
    }
}
