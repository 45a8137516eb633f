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
        try {
            claim.get().toCompletableFuture().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return Optional.empty();
        } catch (TimeoutException e) {
            return Optional.of("no answer within " + timeout.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted while waiting for an answer");
        } catch (ExecutionException | RuntimeException e) {
            return Optional.of(PermitStoreException.describe(e));
        }
    }
}
