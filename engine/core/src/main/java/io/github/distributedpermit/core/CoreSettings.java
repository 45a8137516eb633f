package io.github.distributedpermit.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What holds for all permits, unless a name's {@link PermitSettings} say otherwise.
 *
 * @param lease how long a holding outlives the member's last sign of life
 * @param commandTimeout how long the store may take to answer one claim
 * @param storeTimeout how long any call waits for a store that does not answer, before it fails; further calls then fail
 *     at once until the store answers. Not less than the command time-out
 * @param recheck how often waiting calls ask again, in case a notice was lost
 * @param window claims of one key that may be in flight
 * @param handOverSlice how long permits go round within this process while other members wait; {@code null}: as the
 *     backend says
 * @param linger how long a released permit may stay with this process while nobody else waits
 * @param release whether giving back waits for the store
 * @param maxWaiters calls of this process that may wait for one key
 * @param maxKeys keys in use by this process at once
 */
public record CoreSettings(
        Duration lease,
        Duration commandTimeout,
        Duration storeTimeout,
        Duration recheck,
        int window,
        @Nullable Duration handOverSlice,
        Duration linger,
        Release release,
        int maxWaiters,
        int maxKeys) {

    /** The defaults of the properties. */
    public static final CoreSettings DEFAULTS = new CoreSettings(
            Duration.ofSeconds(15),
            Duration.ofSeconds(2),
            Duration.ofSeconds(10),
            Duration.ofMillis(500),
            4,
            null,
            Duration.ZERO,
            Release.ASYNC,
            10_000,
            1_000_000);
}
