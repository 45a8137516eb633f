package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.CallerSource;
import java.lang.StackWalker.Option;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Finds who makes a call on the stack of its thread: the method of the application that is nearest to the permit, which for an
 * annotated method is that of its proxy. It takes about a microsecond. Thread-safe.
 */
public final class StackCallers implements CallerSource {

    private static final int DEPTH = 80;
    private static final List<String> FRAMEWORKS = List.of(
            "java.",
            "jdk.internal.",
            "sun.",
            "org.springframework.",
            "org.aspectj.",
            "reactor.",
            "io.micrometer.",
            "io.github.distributedpermit.core.",
            "io.github.distributedpermit.aop.",
            "io.github.distributedpermit.endpoint.");
    private static final String OUR_API = "io.github.distributedpermit.";

    private final StackWalker walker = StackWalker.getInstance(Set.of(Option.RETAIN_CLASS_REFERENCE));
    /** Other processes have other numbers, so that what is meant for a call finds no other one. Exact as a number of JavaScript. */
    private final AtomicLong calls = new AtomicLong(new SecureRandom().nextLong(1L << 52));

    private final Supplier<@Nullable String> traceIds;

    /**
     * Creates the source.
     *
     * @param traceIds the id of the trace that the present thread works for; {@code null} if there is none
     */
    public StackCallers(Supplier<@Nullable String> traceIds) {
        this.traceIds = traceIds;
    }

    /** A failure must not reach the call, which needs none of this; nor may a class that a library of the trace lacks. */
    @Override
    public @Nullable Caller current() {
        try {
            Optional<String> method = walker.walk(frames -> frames.limit(DEPTH)
                    .filter(frame -> isApplication(frame.getDeclaringClass()))
                    .findFirst()
                    .map(frame -> readable(frame.getDeclaringClass()) + '.' + frame.getMethodName()));
            return new Caller(
                    calls.incrementAndGet(), method, Thread.currentThread(), Optional.ofNullable(traceIds.get()));
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** The nearest proxy is that of the annotated method, in whatever package: that of an application may begin as one of a framework. */
    private static boolean isApplication(Class<?> type) {
        String name = type.getName();
        if (name.contains(ClassUtils.CGLIB_CLASS_SEPARATOR) || Proxy.isProxyClass(type)) {
            return true;
        }
        boolean api = name.startsWith(OUR_API) && name.indexOf('.', OUR_API.length()) < 0;
        return !api && FRAMEWORKS.stream().noneMatch(name::startsWith);
    }

    /** A proxy is shown as what it stands for. */
    private static String readable(Class<?> type) {
        Class<?>[] interfaces = type.getInterfaces();
        if (Proxy.isProxyClass(type) && interfaces.length > 0) {
            return interfaces[0].getName();
        }
        String name = type.getName();
        int generated = name.indexOf(ClassUtils.CGLIB_CLASS_SEPARATOR);
        return generated > 0 ? name.substring(0, generated) : name;
    }
}
