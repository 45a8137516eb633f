package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.core.Release;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings under {@code distributed-permit.permits.<name>}. What is not set is up to the annotation, then to the general
 * settings.
 *
 * @param limit How many permits a key of this name has over all instances, 1 to 1,000,000.
 * @param block Whether calls wait in line when no permit is free.
 * @param timeout How long calls wait at most.
 * @param storeTimeout As distributed-permit.store-timeout, for this name.
 * @param lease As distributed-permit.lease, for this name.
 * @param handOverSlice As distributed-permit.hand-over-slice, for this name.
 * @param linger As distributed-permit.linger, for this name.
 * @param release As distributed-permit.release, for this name.
 */
public record PermitProperties(
        @Nullable Integer limit,
        @Nullable Boolean block,
        @Nullable Duration timeout,
        @Nullable Duration storeTimeout,
        @Nullable Duration lease,
        @Nullable Duration handOverSlice,
        @Nullable Duration linger,
        @Nullable Release release) {}
