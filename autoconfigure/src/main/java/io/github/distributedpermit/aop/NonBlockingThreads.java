package io.github.distributedpermit.aop;

import java.util.stream.Stream;
import org.springframework.util.ClassUtils;

/**
 * Refuses to wait on a thread that must not block: one of Reactor's non-blocking threads, or a thread of a Netty event
 * loop. Waiting there could keep the very signals from being processed that the wait needs. Thread-safe.
 */
final class NonBlockingThreads {

    private static final String REACTOR = "reactor.core.scheduler.NonBlocking";
    private static final String NETTY = "io.netty.util.concurrent.FastThreadLocalThread";

    private final ClassValue<Kind> kinds = new ClassValue<>() {
        @Override
        protected Kind computeValue(Class<?> type) {
            if (Stream.of(ClassUtils.getAllInterfacesForClass(type))
                    .anyMatch(each -> each.getName().equals(REACTOR))) {
                return Kind.NON_BLOCKING;
            }
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                if (each.getName().equals(NETTY)) {
                    return Kind.NETTY;
                }
            }
            return Kind.ORDINARY;
        }
    };

    void refuse(LimitedMethod limited) {
        Thread thread = Thread.currentThread();
        if (thread.getClass() != Thread.class && mustNotBlock(thread)) {
            throw new IllegalStateException(
                    ("%s is limited by @DistributedPermit and may wait, but was called on thread '%s', which must not block:"
                                    + " let the method return a Mono, Flux or CompletableFuture, or call it on another thread, such"
                                    + " as with subscribeOn(Schedulers.boundedElastic())")
                            .formatted(limited.description(), thread.getName()));
        }
    }

    private boolean mustNotBlock(Thread thread) {
        Kind kind = kinds.get(thread.getClass());
        return kind == Kind.NON_BLOCKING || (kind == Kind.NETTY && NettyThreads.mustNotBlock(thread));
    }

    private enum Kind {
        ORDINARY,
        NON_BLOCKING,
        NETTY
    }
}
