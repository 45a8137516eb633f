package io.github.distributedpermit.aop;

import io.netty.util.concurrent.FastThreadLocalThread;
import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/**
 * Refuses to wait on a thread that must not block: one of Reactor's non-blocking threads, or a thread of a Netty event
 * loop. Waiting there could keep the very signals from being processed that the wait needs.
 */
final class NonBlockingThreads {

    private static final boolean REACTOR = isPresent("reactor.core.scheduler.Schedulers");
    private static final boolean NETTY = isPresent("io.netty.util.concurrent.FastThreadLocalThread");

    private NonBlockingThreads() {}

    private static boolean isPresent(String name) {
        return ClassUtils.isPresent(name, NonBlockingThreads.class.getClassLoader());
    }

    static void refuse(LimitedMethod limited) {
        Thread thread = Thread.currentThread();
        if (thread.getClass() != Thread.class
                && (REACTOR && Reactor.mustNotBlock(thread) || NETTY && Netty.mustNotBlock(thread))) {
            throw new IllegalStateException(
                    ("%s is limited by @DistributedPermit and may wait, but was called on thread '%s', which must not block:"
                                    + " let the method return a Mono, Flux or CompletableFuture, or call it on another thread, such"
                                    + " as with subscribeOn(Schedulers.boundedElastic())")
                            .formatted(limited.description(), thread.getName()));
        }
    }

    /** Loaded only where Reactor is on the class path. */
    private static final class Reactor {

        static boolean mustNotBlock(Thread thread) {
            return Schedulers.isNonBlockingThread(thread);
        }
    }

    /** Loaded only where Netty is on the class path. */
    private static final class Netty {

        static boolean mustNotBlock(Thread thread) {
            return thread instanceof FastThreadLocalThread netty && !netty.permitBlockingCalls();
        }
    }
}
