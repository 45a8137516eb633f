package io.github.distributedpermit;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The permits of one name, for keys made at run time. Thread-safe.
 *
 * <p>All methods throw {@link IllegalArgumentException} for a null or blank key and for more permits than the limit.
 */
public interface NamedPermits {

    /** The name, as in settings and metrics. */
    String name();

    /**
     * Waits for a permit of the key, at most the name's configured time-out.
     *
     * @throws PermitRejectedException if the time-out passed, the line is full or the application is shutting down
     * @throws PermitBackendException if the store failed
     * @throws InterruptedException if the caller was interrupted before or while waiting; no permit is held then
     */
    Permit acquire(String key) throws InterruptedException;

    /**
     * Does what the request says.
     *
     * @throws PermitRejectedException if there was no permit
     * @throws PermitBackendException if the store failed
     * @throws InterruptedException if the caller was interrupted before or while waiting; no permit is held then
     */
    Permit acquire(PermitRequest request) throws InterruptedException;

    /**
     * Takes a permit of the key if one is free now; costs one round trip to the store at most.
     *
     * @throws PermitBackendException if the store failed or did not answer within the command time-out
     * @throws InterruptedException if the caller was interrupted
     */
    Optional<Permit> tryAcquire(String key) throws InterruptedException;

    /**
     * As {@link #acquire(PermitRequest)}, but blocks no thread. The future ends with the permit, a
     * {@link PermitRejectedException} or a {@link PermitBackendException}, on the executor given for
     * continuations (with Spring Boot: the bean {@code distributedPermitExecutor}, else {@code applicationTaskExecutor}, else
     * threads of the library), or in the caller's thread if a permit was at hand. A continuation that blocks occupies a
     * thread of that executor; to wait for another permit in it, compose the futures instead of joining them. Cancelling it leaves the line; a permit that arrived at that moment is given back.
     */
    CompletableFuture<Permit> acquireAsync(PermitRequest request);
}
