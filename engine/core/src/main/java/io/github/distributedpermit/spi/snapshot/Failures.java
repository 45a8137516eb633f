package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;

/**
 * Failures of a store as the core is to receive them. Stateless. {@link CommitAttempt} and {@link
 * SnapshotPermitStore} use it for each stage of a store that fails.
 */
final class Failures {

    private Failures() {}

    /**
     * The store's own failure, or else a passing one. A failure of an unknown kind is a passing one: the core then
     * repeats the claim with pauses, and waiting calls keep their time-out.
     */
    static PermitStoreException of(String key, Throwable failure) {
        Throwable first = PermitStoreException.causeOf(failure);
        return first instanceof PermitStoreException known
                ? known
                : PermitStoreException.passing(
                        "The store failed for key '%s': %s".formatted(KeyEncoding.encode(key), first), first);
    }
}
