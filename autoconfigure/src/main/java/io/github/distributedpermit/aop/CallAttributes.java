package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import java.lang.reflect.Method;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The attributes of an annotation, besides its key, that are made for each call.
 *
 * @param headStart makes the head start; {@code null} if it is the same for all calls
 * @param limit makes the limit; {@code null} if it is the same for all calls
 * @param fairBy makes the group; {@code null} if there are none
 * @param fairWeight makes the weight of the group; {@code null} for 1
 * @param origin of the annotation, for messages
 */
record CallAttributes(
        @Nullable KeyTemplate headStart,
        @Nullable KeyTemplate limit,
        @Nullable KeyTemplate fairBy,
        @Nullable KeyTemplate fairWeight,
        String origin) {

    /**
     * The request with what this call has, unless settings say it.
     *
     * @throws IllegalArgumentException if a value is not possible
     */
    PermitRequest of(
            PermitRequest request,
            PermitDefinition definition,
            Object target,
            Method method,
            @Nullable Object[] arguments) {
        PermitRequest.Builder call = request.toBuilder();
        if (headStart != null && definition.headStart() == null) {
            call.headStart(headStart(headStart.keyFor(target, method, arguments).strip()));
        }
        if (limit != null && definition.isLimitedPerCall()) {
            String text = limit.keyFor(target, method, arguments).strip();
            call.limit(number("limitString", text, definition.permits(), PermitDefinition.MAX_LIMIT));
        } else if (limit != null && !Integer.valueOf(PermitDefinition.UNLIMITED).equals(definition.limit())) {
            call.limit(definition.limit()); // of the settings, which may be taken away before the call is queued
        }
        if (fairBy != null) {
            call.fairBy(fairBy.keyFor(target, method, arguments));
        }
        if (fairWeight != null) {
            String text = fairWeight.keyFor(target, method, arguments).strip();
            call.fairWeight(number("fairWeight", text, 1, PermitRequest.HIGHEST_WEIGHT));
        }
        return call.build();
    }

    private int number(String attribute, String text, int least, int most) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // the same refusal
        }
        throw new IllegalArgumentException(
                "%s: %s '%s' of @DistributedPermit in this call is no whole number from %d to %d"
                        .formatted(origin, attribute, text, least, most));
    }

    private Duration headStart(String value) {
        try {
            Duration duration = DurationFormatterUtils.detectAndParse(value);
            if (!duration.isNegative() && duration.compareTo(PermitRequest.LONGEST_HEAD_START) <= 0) {
                return duration;
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            // the same refusal
        }
        throw new IllegalArgumentException(
                "%s: headStart '%s' of @DistributedPermit in this call is no duration from 0 to an hour, such as 30s"
                        .formatted(origin, value));
    }
}
