package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.CompletableFuture;

/** Something asked of Redis, and its result. */
abstract class Call<T> extends CompletableFuture<T> {

    /** Sends it, at most once, or fails it. */
    abstract void send(Attachment to);

    /** Fails it, unless it has been sent. */
    final void refuse(String why) {
        completeExceptionally(PermitStoreException.passing(why, null));
    }
}
