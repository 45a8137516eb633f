package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Bounds the time that the store may take, and says without secrets why it did not answer. Thread-safe. */
final class StoreAnswers {

    private final Duration timeout;

    StoreAnswers(Duration timeout) {
        this.timeout = timeout;
    }

    Duration timeout() {
        return timeout;
    }

    /** The answer; fails after the time-out, and also if the question itself throws. */
    <T> CompletableFuture<T> of(Supplier<CompletionStage<T>> question) {
        try {
            return question.get().toCompletableFuture().copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Why the store did not answer. */
    String problem(Throwable failure) {
        return PermitStoreException.causeOf(failure) instanceof TimeoutException
                ? "The store did not answer within " + timeout.toMillis() + " ms"
                : PermitStoreException.describe(failure);
    }
}
