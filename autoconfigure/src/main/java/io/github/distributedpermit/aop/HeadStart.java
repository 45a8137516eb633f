package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRequest;
import java.lang.reflect.Method;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * A head start that is made for each call.
 *
 * @param text makes its text
 * @param origin of the annotation, for messages
 */
record HeadStart(KeyTemplate text, String origin) {

    /** @throws IllegalArgumentException if this call has none that is possible */
    Duration of(Object target, Method method, @Nullable Object[] arguments) {
        String value = text.keyFor(target, method, arguments).strip();
        try {
            Duration headStart = DurationFormatterUtils.detectAndParse(value);
            if (!headStart.isNegative() && headStart.compareTo(PermitRequest.LONGEST_HEAD_START) <= 0) {
                return headStart;
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw refusal(value, e);
        }
        throw refusal(value, null);
    }

    private IllegalArgumentException refusal(String value, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "%s: headStart '%s' of @DistributedPermit in this call is no duration from 0 to an hour, such as 30s"
                        .formatted(origin, value),
                cause);
    }
}
