package io.github.distributedpermit.health;

import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Asks the store by a claim that wants nothing and takes the way of every claim to it and back. Thread-safe. */
public final class HealthProbe {

    private final Supplier<? extends CompletionStage<?>> claim;
    private final Duration timeout;

    /**
     * Creates a probe.
     *
     * @param claim sends the claim
     * @param timeout how long the answer may take
     */
    public HealthProbe(Supplier<? extends CompletionStage<?>> claim, Duration timeout) {
        this.claim = claim;
        this.timeout = timeout;
    }

    /** Why the store cannot be used, without secrets; empty if it answered. Blocks for the time-out at most. */
    public Optional<String> problem() {
        return failure().map(this::describe);
    }

    /** As {@link #problem}, with what it means for permits. */
    Optional<String> outage() {
        return failure().map(failure -> effect(failure) + describe(failure));
    }

    private Optional<Exception> failure() {
        try {
            claim.get().toCompletableFuture().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(e);
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            return Optional.of(e);
        }
    }

    private String describe(Exception failure) {
        if (failure instanceof TimeoutException) {
            return "no answer within " + timeout.toMillis() + " ms";
        }
        return failure instanceof InterruptedException
                ? "interrupted while waiting for an answer"
                : PermitStoreException.describe(failure);
    }

    /** A store that refuses claims does answer. */
    private static String effect(Exception failure) {
        if (failure instanceof InterruptedException) {
            return "";
        }
        Throwable nested = failure.getCause();
        Throwable cause = failure instanceof ExecutionException && nested != null
                ? PermitStoreException.causeOf(nested)
                : failure;
        return cause instanceof PermitStoreException store && (store.isAnswer() || store.isPermanent())
                ? "The store grants no permits: "
                : "The store does not answer, so it grants no permits: ";
    }
}
