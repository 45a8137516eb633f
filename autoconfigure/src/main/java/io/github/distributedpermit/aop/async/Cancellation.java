package io.github.distributedpermit.aop.async;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * Cancels the future that a limited method has returned, if that can stop its work. {@code CompletableFuture.cancel} cannot: it only
 * completes the future, so that the end of the work would not be seen any more. A class that overrides it, such as that of an HTTP
 * client, and every other kind of future has a cancellation of its own.
 */
final class Cancellation {

    private static final ClassValue<Boolean> STOPS_WORK = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("cancel", boolean.class).getDeclaringClass() != CompletableFuture.class;
            } catch (NoSuchMethodException e) { // in a native image, of a class that is not registered
                return type != CompletableFuture.class;
            }
        }
    };

    private Cancellation() {}

    /** Cancels the work; if it can't be cancelled it goes on, and holds its permits until it ends. */
    static void cancel(Future<?> work) {
        if (STOPS_WORK.get(work.getClass())) {
            try {
                work.cancel(true);
            } catch (RuntimeException e) {
                // a future of the application may throw anything
            }
        }
    }
}
