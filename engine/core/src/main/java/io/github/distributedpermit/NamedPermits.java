package io.github.distributedpermit;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one name, for keys made at run time. Thread-safe.
 *
 * <p>All methods throw {@link IllegalArgumentException} for a null or blank key and for more permits than the limit.
 */
public interface NamedPermits {

    /** The name, as in settings and metrics. */
    String name();

    /**
     * One permit of the key, waiting at most the name's configured time-out, or not at all where the settings of the name say
     * {@code block=false}.
     */
    default PermitRequest request(String key) {
        return PermitRequest.of(key);
    }

    /**
     * The permit that these lie within, see {@link DistributedPermit#within()}: each call takes it as well, after its own. {@code null}
     * if there is none.
     */
    default @Nullable PermitDefinition within() {
        return null;
    }

    /**
     * The same permits, without the ones that they lie within. For implementations of this interface: {@link AllOrNothing} takes each
     * level by itself.
     *
     * @param inner the name that the call has a permit of already, which lies within these; {@code null} for the innermost level
     */
    default NamedPermits alone(@Nullable String inner) {
        return this;
    }

    /**
     * Does what {@link #request} says: waits for a permit of the key, at most the name's configured time-out.
     *
     * @throws PermitRejectedException if the time-out passed, the settings say {@code block=false} and the limit is reached, the queue is full or the application is shutting down
     * @throws PermitBackendException if the store failed
     * @throws InterruptedException if the caller was interrupted before or while waiting; no permit is held then
     */
    default Permit acquire(String key) throws InterruptedException {
        return acquire(request(key));
    }

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
    default Optional<Permit> tryAcquire(String key) throws InterruptedException {
        return tryAcquire(PermitRequest.builder(key).withoutWaiting().build());
    }

    /**
     * Does what the request says, and is empty where {@link #acquire(PermitRequest)} would say that the limit is reached or
     * that the time-out passed.
     *
     * @throws PermitRejectedException if there was no permit for another reason
     * @throws PermitBackendException if the store failed
     * @throws InterruptedException if the caller was interrupted before or while waiting; no permit is held then
     */
    default Optional<Permit> tryAcquire(PermitRequest request) throws InterruptedException {
        Permit permit;
        try {
            permit = acquire(request);
        } catch (PermitRejectedException e) {
            if (e.isForWantOfTime()) {
                return Optional.empty();
            }
            throw e;
        }
        try {
            return Optional.of(permit);
        } catch (Error e) { // the heap is full: no caller gets the permit
            permit.close();
            throw e;
        }
    }

    /**
     * Does what the request says, and goes on waiting when the thread is interrupted; the interrupt flag is set again when
     * it returns or throws.
     *
     * @throws PermitRejectedException if there was no permit
     * @throws PermitBackendException if the store failed
     */
    Permit acquireUninterruptibly(PermitRequest request);

    /**
     * Takes what the request says, does the work, and gives it back. In the work, {@link Permits#current()} is its permit.
     *
     * @throws PermitRejectedException if there was no permit; the work was not begun
     * @throws PermitBackendException if the store failed; the work was not begun
     * @throws InterruptedException if the caller was interrupted before or while waiting; the work was not begun
     * @throws Exception what the work throws
     */
    default <T extends @Nullable Object> T call(PermitRequest request, Callable<T> work) throws Exception {
        try (PermitContext.Work ignored = PermitContext.begin(acquire(request))) {
            return work.call();
        }
    }

    /**
     * As {@link #call}, for work that throws no checked exception.
     *
     * @throws PermitInterruptedException if the caller was interrupted before or while waiting; the thread's flag is set
     *     again
     */
    default <T extends @Nullable Object> T supply(PermitRequest request, Supplier<T> work) {
        Permit permit;
        try {
            permit = acquire(request);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PermitInterruptedException(String.valueOf(e.getMessage()), e);
        }
        try (PermitContext.Work ignored = PermitContext.begin(permit)) {
            return work.get();
        }
    }

    /** As {@link #supply}, without a result. */
    default void run(PermitRequest request, Runnable work) {
        this.<@Nullable Object>supply(request, () -> {
            work.run();
            return null;
        });
    }

    /**
     * How the key is used now. Costs one round trip to the store.
     *
     * @throws PermitBackendException if the store failed, or did not answer within the store time-out
     */
    default PermitState state(String key) {
        try {
            return stateAsync(key).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof PermitBackendException failed) {
                throw failed;
            }
            throw e;
        }
    }

    /**
     * As {@link #state}, but blocks no thread. What follows runs on the executor given for continuations, see
     * {@link #acquireAsync}.
     */
    CompletableFuture<PermitState> stateAsync(String key);

    /**
     * As {@link #acquire(PermitRequest)}, but blocks no thread. The future ends with the permit, a
     * {@link PermitRejectedException} or a {@link PermitBackendException}, on the executor given for
     * continuations (with Spring Boot: the bean {@code distributedPermitExecutor}, else {@code applicationTaskExecutor}, else
     * threads of the library), or in the caller's thread if a permit was at hand. A continuation that blocks occupies a
     * thread of that executor; to wait for another permit in it, compose the futures instead of joining them. Cancelling it takes the
     * call out of the queue; a permit that arrived at that moment is given back.
     */
    CompletableFuture<Permit> acquireAsync(PermitRequest request);
}
