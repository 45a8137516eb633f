package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.CompletableFuture;

/**
 * One operation that the core asked of Redis, and the future of its result. Thread-safe, as every
 * {@link CompletableFuture}. A {@link ClaimCall} is sent by the {@link ClaimPipeline}; a {@link KeyCall} is a command by
 * itself.
 */
abstract class Call<T> extends CompletableFuture<T> {

    /**
     * Completes the call with a failure that may heal by itself. Has no effect on a call that is complete.
     *
     * @param why shown to the caller and in the log; must have nothing secret
     */
    final void failUnsent(String why) {
        completeExceptionally(PermitStoreException.passing(why, null));
    }
}
