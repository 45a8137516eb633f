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
 * @param everyCall what each call asks for, if its key is the same for all
 */
record PermitOperation(
        PermitDefinition definition,
        KeyTemplate key,
        @Nullable Fallback fallback,
        @Nullable PermitRequest everyCall) {

    PermitOperation(PermitDefinition definition, KeyTemplate key, @Nullable Fallback fallback) {
        this(definition, key, fallback, definition.key() == null ? null : request(definition, definition.key()));
    }

    PermitRequest request(Object target, Method method, @Nullable Object[] arguments) {
        return everyCall != null ? everyCall : request(definition, key.keyFor(target, method, arguments));
    }

    private static PermitRequest request(PermitDefinition definition, String text) {
        return new PermitRequest(text, definition.permits(), definition.block(), definition.timeout());
    }
}
