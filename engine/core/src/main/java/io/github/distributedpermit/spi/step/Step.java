package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Holding;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What an operation did to a key: the difference a store has to commit, and which members it has to notify. It
 * includes what {@link KeyTable#retain} dropped before. Immutable. A store commits {@code written} and {@code
 * removed} in one atomic operation and notifies {@code served} only with it (law 7).
 *
 * @param answer for the claimer; empty unless the operation is a claim
 * @param written records that are new or differ
 * @param removed members whose records are gone
 * @param served members other than the claimer that were granted more, or from which an operator took what they had, and what
 *     they have now, first served first
 */
public record Step(
        Optional<Holding> answer, List<PermitRecord> written, Set<String> removed, Map<String, Holding> served) {

    /** Whether there is nothing to commit. */
    public boolean isUnchanged() {
        return written.isEmpty() && removed.isEmpty();
    }
}
