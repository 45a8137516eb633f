package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.CallerSource;
import java.lang.StackWalker.Option;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Finds who makes a call that does not say it, as those of annotated methods do, on the stack of its thread: the method of the application
 * that is nearest to the permit. That takes about two microseconds, so only a thousand calls in a second are looked up: the method of the
 * others is not known. Thread-safe.
 */
public final class StackCallers implements CallerSource {

    private static final int DEPTH = 80;
    /** So many lookups take a five-hundredth of a processor. */
    static final int MOST_LOOKUPS = 1_000;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
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
    private final LongSupplier nanoTime;
    private final AtomicInteger lookups = new AtomicInteger();
    private volatile long countedFrom;

    /**
     * Creates the source.
     *
     * @param traceIds the id of the trace that the present thread works for; {@code null} if there is none
     * @param nanoTime the time since any moment, in nanoseconds
     */
    public StackCallers(Supplier<@Nullable String> traceIds, LongSupplier nanoTime) {
        this.traceIds = traceIds;
        this.nanoTime = nanoTime;
        this.countedFrom = nanoTime.getAsLong();
    }

    /** A failure must not reach the call, which needs none of this; nor may a class that a library of the trace lacks. */
    @Override
    public @Nullable Caller current(@Nullable String method) {
        try {
            return new Caller(
                    calls.incrementAndGet(),
                    method != null ? Optional.of(method) : mayLookUp() ? lookUp() : Optional.empty(),
                    Thread.currentThread(),
                    Optional.ofNullable(traceIds.get()),
                    PermitContext.ofThread());
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** Of threads that count at the same time some may look up more, or fewer. */
    private boolean mayLookUp() {
        long now = nanoTime.getAsLong();
        if (now - countedFrom >= SECOND) {
            countedFrom = now;
            lookups.set(0);
        }
        return lookups.get() < MOST_LOOKUPS && lookups.incrementAndGet() <= MOST_LOOKUPS;
    }

    private Optional<String> lookUp() {
        return walker.walk(frames -> frames.limit(DEPTH)
                .filter(frame -> isApplication(frame.getDeclaringClass()))
                .findFirst()
                .map(frame -> readable(frame.getDeclaringClass()) + '.' + frame.getMethodName()));
    }

    /** A proxy stands for a method of the application, in whatever package: that may begin as one of a framework. */
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
