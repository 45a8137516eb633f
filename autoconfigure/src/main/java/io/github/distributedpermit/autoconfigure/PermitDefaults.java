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
 * @param storeTimeout How long any call waits for a store that does not answer, before it ends with
 *     PermitBackendException. Further calls then end at once until the store answers. 10s if not set.
 * @param linger How long a released permit may stay with its instance, to save the next call the way to the store. Another
 *     instance that begins to wait meanwhile gets it only after that time. At most 10 ms; none if not set.
 * @param release Whether giving back a permit waits for the store's confirmation; 'async' if not set.
 * @param onReject Whether a call of an annotated method that gets no permit throws or is skipped.
 * @param holdAtLeast How long an annotated method holds a permit at least, also if it returns earlier.
 * @param onStoreFailure What happens to calls once the store has not answered for the store time-out: they fail, run
 *     without it, or share this instance's part of the limit.
 */
public record PermitDefaults(
        @Nullable Duration timeout,
        @Nullable Duration storeTimeout,
        @Nullable Duration linger,
        @Nullable Release release,
        @Nullable OnReject onReject,
        @Nullable Duration holdAtLeast,
        @Nullable OnStoreFailure onStoreFailure) {

    static final PermitDefaults NONE = new PermitDefaults(null, null, null, null, null, null, null);

    PermitSettings settings() {
        return PermitSettings.builder()
                .timeout(timeout)
                .storeTimeout(storeTimeout)
                .linger(linger)
                .release(release)
                .onReject(onReject)
                .holdAtLeast(holdAtLeast)
                .onStoreFailure(onStoreFailure)
                .build();
    }
}
