package io.github.distributedpermit.aop;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.PermitDefinition;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Returns nothing from a call that got no permit, see {@link DistributedPermit#onReject()}. For reactive types and futures
 * nothing is {@code null} here, which their strategies turn into an empty publisher or a future of {@code null}.
 *
 * @param value what the caller gets
 */
record SkippedCall(@Nullable Object value) implements RejectedAnswer {

    private static final Log log = LogFactory.getLog(SkippedCall.class);

    /** The answer for a method of this permit; {@code null} if its calls are not skipped. */
    static @Nullable SkippedCall of(PermitDefinition definition, Method method) {
        if (!isSkipped(definition, method)) {
            return null;
        }
        Class<?> returned = SuspendingFunctions.returnType(method);
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned);
        boolean needsValue = adapter == null
                ? (returned.isPrimitive() && returned != void.class) || SuspendingFunctions.neverReturnsNull(method)
                : !adapter.supportsEmpty();
        if (needsValue) {
            throw new InvalidPermitException(
                    "%s: a call of %s cannot be skipped, because it returns %s"
                            .formatted(definition.origin(), DeclaredPermit.signature(method), returned.getSimpleName()),
                    "Give a fallback, let the method return an Optional or an object, or set onReject = OnReject.THROW");
        }
        return new SkippedCall(empty(returned));
    }

    private static boolean isSkipped(PermitDefinition definition, Method method) {
        if (definition.onReject() != OnReject.DEFAULT) {
            return definition.onReject() == OnReject.SKIP;
        }
        Class<?> returned = SuspendingFunctions.returnType(method);
        return !definition.block() && (returned == void.class || !returned.isPrimitive()) && Jobs.isJob(method);
    }

    private static @Nullable Object empty(Class<?> returned) {
        if (returned == Optional.class) {
            return Optional.empty();
        }
        if (returned == OptionalInt.class) {
            return OptionalInt.empty();
        }
        if (returned == OptionalLong.class) {
            return OptionalLong.empty();
        }
        return returned == OptionalDouble.class ? OptionalDouble.empty() : null;
    }

    @Override
    public @Nullable Object answer(Object target, @Nullable Object[] arguments, Throwable rejected) {
        if (log.isDebugEnabled()) {
            log.debug("A call was skipped: " + rejected.getMessage());
        }
        return value;
    }
}
