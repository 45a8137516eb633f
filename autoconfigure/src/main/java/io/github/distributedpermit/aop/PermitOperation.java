package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * What to do for one permit of one method.
 *
 * @param definition as it takes effect, settings merged in
 * @param key makes the key of a call
 * @param fallback answers rejected calls, if declared
 */
record PermitOperation(
        PermitDefinition definition,
        KeyTemplate key,
        @Nullable Fallback fallback) {

    PermitRequest request(Object target, Method method, @Nullable Object[] arguments) {
        String text = key.keyFor(target, method, arguments);
        return new PermitRequest(text, definition.permits(), definition.block(), definition.timeout());
    }
}
