package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitGroup;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one call, which are being taken without blocking a thread.
 *
 * @param permits ends with all of them, which then belong to whoever began this, or with the first failure. Cancelling it leaves
 *     the queue and gives back what it has
 * @param held makes of them what the call holds
 * @param fallback answers the call after a failure
 */
public record Acquisition(
        CompletableFuture<PermitGroup> permits, Function<PermitGroup, PermitBundle> held, Answer fallback) {

    /** One that could not begin. */
    public static Acquisition failed(Throwable failure) {
        return new Acquisition(
                CompletableFuture.failedFuture(failure), group -> new PermitBundle(group.permits()), thrown -> {
                    throw thrown;
                });
    }

    /** Leaves the queue, if it has not ended. */
    void cancel() {
        permits.cancel(false);
    }

    /** Answers a failed call. */
    @FunctionalInterface
    public interface Answer {

        /**
         * What the fallback of the permit returned that could not be taken.
         *
         * @throws Throwable the failure itself if no fallback answers it, or what the fallback threw
         */
        @Nullable
        Object to(Throwable failure) throws Throwable;
    }
}
