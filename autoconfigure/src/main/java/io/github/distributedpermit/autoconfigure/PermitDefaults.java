package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings {@code distributed-permit.defaults}: for all permits, where neither the settings of the name nor the annotation
 * say anything.
 *
 * @param timeout How long calls wait at most.
 * @param storeTimeout As distributed-permit.store-timeout.
 * @param lease As distributed-permit.lease.
 * @param handOverSlice As distributed-permit.hand-over-slice.
 * @param linger As distributed-permit.linger.
 * @param release As distributed-permit.release.
 * @param onReject Whether a call of an annotated method that gets no permit throws or is skipped.
 * @param holdAtLeast How long an annotated method holds a permit at least, also if it returns earlier.
 * @param onStoreFailure What happens to calls once the store has not answered for the store time-out: they fail, run
 *     without it, or share this instance's part of the limit.
 */
public record PermitDefaults(
        @Nullable Duration timeout,
        @Nullable Duration storeTimeout,
        @Nullable Duration lease,
        @Nullable Duration handOverSlice,
        @Nullable Duration linger,
        @Nullable Release release,
        @Nullable OnReject onReject,
        @Nullable Duration holdAtLeast,
        @Nullable OnStoreFailure onStoreFailure) {

    static final PermitDefaults NONE = new PermitDefaults(null, null, null, null, null, null, null, null, null);

    PermitSettings settings() {
        return PermitSettings.builder()
                .timeout(timeout)
                .storeTimeout(storeTimeout)
                .lease(lease)
                .handOverSlice(handOverSlice)
                .linger(linger)
                .release(release)
                .onReject(onReject)
                .holdAtLeast(holdAtLeast)
                .onStoreFailure(onStoreFailure)
                .build();
    }
}
