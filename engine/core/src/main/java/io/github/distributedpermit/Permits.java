package io.github.distributedpermit;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The programmatic twin of {@link DistributedPermit}. Thread-safe.
 *
 * <pre>{@code
 * try (Permit permit = permits.acquire("report-export")) {
 *     ...
 * }
 * }</pre>
 *
 * <p>A name needs a limit, from {@code distributed-permit.permits.<name>.limit} or from an annotation; without one every
 * method throws {@link IllegalArgumentException}. Settings apply to a name that nothing declares as it is written, not in
 * Spring Boot's relaxed form. The methods that take a name only use it as the key as well.
 */
public interface Permits {

    /**
     * The permit of the limited method that the current thread is in, or of the lambda of {@link #run}: the one that was
     * taken last. Empty outside of such work, on threads that the work has started, and for permits that code acquires
     * itself. It stays the same object after the work, and is not held any more then.
     */
    static Optional<Permit> current() {
        return PermitContext.current();
    }

    /** As {@link #current()}, the one of this name that was taken last. */
    static Optional<Permit> current(String name) {
        return PermitContext.current(name);
    }

    /**
     * The permits of one name, for keys made at run time.
     *
     * @throws IllegalArgumentException if nothing gives the name a limit
     */
    NamedPermits named(String name);

    /** Waits for a permit, at most the name's configured time-out. See {@link NamedPermits#acquire(String)}. */
    default Permit acquire(String name) throws InterruptedException {
        return named(name).acquire(name);
    }

    /** Waits for a permit, at most this long. See {@link NamedPermits#acquire(PermitRequest)}. */
    default Permit acquire(String name, Duration timeout) throws InterruptedException {
        return named(name).acquire(PermitRequest.of(name).withTimeout(timeout));
    }

    /** Takes a permit if one is free now. See {@link NamedPermits#tryAcquire(String)}. */
    default Optional<Permit> tryAcquire(String name) throws InterruptedException {
        return named(name).tryAcquire(name);
    }

    /** Takes a permit if one becomes free in this time. See {@link NamedPermits#tryAcquire(PermitRequest)}. */
    default Optional<Permit> tryAcquire(String name, Duration timeout) throws InterruptedException {
        return named(name)
                .tryAcquire(PermitRequest.builder(name).timeout(timeout).build());
    }

    /**
     * Waits for the permits of several keys, all or nothing: if it does not get one of them, it gives back the others before
     * it throws. They are taken one after the other: first those with a {@linkplain PermitRequest.Builder#name name} other than
     * their key, such as name {@code tenant} and key {@code tenant-42}, then the others; both with a permit before the one that it
     * lies {@linkplain DistributedPermit#within() within}, and else in the order of their keys. Methods with annotations do the same.
     * So calls of this kind never wait for each other, in whatever order they name the keys, if a key has the same name everywhere;
     * but a call that holds a permit already and waits for several others may. Requests for the same key are put together, see
     * {@link PermitRequest#and}. A time-out counts from the beginning of the whole call. The permits that the requested ones lie within
     * are taken too, if no request asks for them.
     *
     * @param requests for keys whose name is that of the request, else the key itself
     * @throws IllegalArgumentException if a name has no limit, or lies within a permit whose key is made for each call and that no
     *     request asks for
     * @throws PermitRejectedException if there was no permit of one key
     * @throws PermitBackendException if the store failed
     * @throws InterruptedException if the caller was interrupted before or while waiting; no permit is held then
     */
    default PermitGroup acquireAll(Collection<PermitRequest> requests) throws InterruptedException {
        return AllOrNothing.of(this, requests).acquire(taken -> {});
    }

    /**
     * As {@link #acquireAll}, and empty where that would say that the limit is reached or that the time-out passed. With
     * requests that do not wait it takes the permits only if all of them are free now.
     */
    default Optional<PermitGroup> tryAcquireAll(Collection<PermitRequest> requests) throws InterruptedException {
        PermitGroup group;
        try {
            group = acquireAll(requests);
        } catch (PermitRejectedException e) {
            if (e.isForWantOfTime()) {
                return Optional.empty();
            }
            throw e;
        }
        try {
            return Optional.of(group);
        } catch (Error e) { // the heap is full: no caller gets them
            group.close();
            throw e;
        }
    }

    /**
     * As {@link #acquireAll}, but blocks no thread. The future ends as that of {@link NamedPermits#acquireAsync} does: with all
     * permits, or with the reason why there was none of one key, after the others were given back. A request that can never be
     * met, for a name without a limit or for more permits than the limit, ends it with an {@link IllegalArgumentException}.
     * Cancelling it takes the call out of the queue, and what it has taken is given back.
     */
    default CompletableFuture<PermitGroup> acquireAllAsync(Collection<PermitRequest> requests) {
        AllOrNothing call;
        try {
            call = AllOrNothing.of(this, requests);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
        return call.acquireAsync(UnaryOperator.identity());
    }

    /**
     * Does the work with a permit, waiting for it at most the name's configured time-out.
     * See {@link NamedPermits#run(PermitRequest, Runnable)}.
     */
    default void run(String name, Runnable work) {
        NamedPermits named = named(name);
        named.run(named.request(name), work);
    }

    /** As {@link #run}, with a result. See {@link NamedPermits#supply(PermitRequest, Supplier)}. */
    default <T extends @Nullable Object> T supply(String name, Supplier<T> work) {
        NamedPermits named = named(name);
        return named.supply(named.request(name), work);
    }

    /** As {@link #run}, for work that throws. See {@link NamedPermits#call(PermitRequest, Callable)}. */
    default <T extends @Nullable Object> T call(String name, Callable<T> work) throws Exception {
        NamedPermits named = named(name);
        return named.call(named.request(name), work);
    }

    /** How the name, used as the key, is used now. See {@link NamedPermits#state(String)}. */
    default PermitState state(String name) {
        return named(name).state(name);
    }

    /** Waits for a permit without blocking a thread. See {@link NamedPermits#acquireAsync(PermitRequest)}. */
    default CompletableFuture<Permit> acquireAsync(String name) {
        NamedPermits named = named(name);
        return named.acquireAsync(named.request(name));
    }

    /**
     * The monotonic clock on which time-outs run, in nanoseconds from an arbitrary origin. For implementations of this interface:
     * one that passes calls on to other permits passes this on as well.
     */
    default long nanoTime() {
        return System.nanoTime();
    }
}
