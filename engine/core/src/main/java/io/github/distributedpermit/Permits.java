package io.github.distributedpermit;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

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
 * method throws {@link IllegalArgumentException}. The methods that take a name only use it as the key as well.
 */
public interface Permits {

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

    /** Waits for a permit without blocking a thread. See {@link NamedPermits#acquireAsync(PermitRequest)}. */
    default CompletableFuture<Permit> acquireAsync(String name) {
        return named(name).acquireAsync(PermitRequest.of(name));
    }
}
