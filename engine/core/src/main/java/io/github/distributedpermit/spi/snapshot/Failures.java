package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;

/** Failures of a store as the core is to receive them. */
final class Failures {

    private Failures() {}

    /** The store's own failure, or else a passing one. */
    static PermitStoreException of(String key, Throwable failure) {
        Throwable first = PermitStoreException.causeOf(failure);
        return first instanceof PermitStoreException known
                ? known
                : PermitStoreException.passing(
                        "The store failed for key '%s': %s".formatted(KeyEncoding.encode(key), first), first);
    }
}
