package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What methods return that declare no type that ends later, but one that leaves it open. The permit is back with the
 * return, and the log says so once per method. What a class is, is found out once.
 */
final class AsyncReturnWarning {

    private static final Log log = LogFactory.getLog(AsyncReturnWarning.class);

    private final ClassValue<Boolean> late = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return AsyncReturnTypes.endsLater(type);
        }
    };

    private final ClassValue<Optional<Method>> body = new ClassValue<>() {
        @Override
        protected Optional<Method> computeValue(Class<?> type) {
            return AsyncReturnTypes.isWebAnswer(type) ? getter(type) : Optional.empty();
        }
    };

    private final Set<Method> warned = ConcurrentHashMap.newKeySet();

    /** Whatever goes wrong here, the caller gets what the method returned. */
    void warnIfLate(LimitedMethod limited, @Nullable Object returned) {
        try {
            look(limited, returned);
        } catch (RuntimeException | Error e) {
            if (log.isDebugEnabled()) {
                log.debug("What " + limited.method() + " returned cannot be looked into", e);
            }
        }
    }

    private void look(LimitedMethod limited, @Nullable Object returned) {
        Object value = contentOf(returned);
        if (value == null || !late.get(value.getClass()) || hasEnded(value) || !warned.add(limited.method())) {
            return;
        }
        Method method = limited.method();
        log.warn(
                ("%s.%s is limited by @DistributedPermit and returned a %s, which ends later than the method: its permit is"
                                + " back before the work has ended. Declare that type as the return type of the method, so that"
                                + " the permit is held until then, or hold it in code with acquireAsync of the bean Permits")
                        .formatted(
                                method.getDeclaringClass().getName(),
                                DeclaredPermit.signature(method),
                                value.getClass().getTypeName()));
    }

    private @Nullable Object contentOf(@Nullable Object returned) {
        if (returned == null) {
            return null;
        }
        Optional<Method> getter = body.get(returned.getClass());
        return getter.isPresent() ? ReflectionUtils.invokeMethod(getter.get(), returned) : returned;
    }

    /** As it can be called, also if the class that was returned is not public. */
    private static Optional<Method> getter(Class<?> type) {
        return Optional.ofNullable(ReflectionUtils.findMethod(type, "getBody"))
                .map(method -> ClassUtils.getPubliclyAccessibleMethodIfPossible(method, null));
    }

    private static boolean hasEnded(Object value) {
        return value instanceof Future<?> future && future.isDone();
    }
}
