package io.github.distributedpermit.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What holds for the process as a member of its store, and for the permits of which nothing else is said. Immutable.
 *
 * @param lease how long a holding outlives the member's last sign of life
 * @param commandTimeout how long the store may take to answer one claim
 * @param recheck how often waiting calls ask again, in case a notification was lost
 * @param handOverSlice how long permits pass from call to call within this process while other members wait; {@code null}: as long as
 *     the store takes for a few answers
 * @param maxKeys keys in use by this process at once
 * @param permits what applies to a permit where neither its settings nor its declaration nor the defaults say anything
 */
public record CoreSettings(
        Duration lease,
        Duration commandTimeout,
        Duration recheck,
        @Nullable Duration handOverSlice,
        int maxKeys,
        PermitSettings permits) {

    /** The defaults of the properties. */
    public static final CoreSettings DEFAULTS = new Builder().build();

    /** A builder that has the values of these settings. */
    public Builder toBuilder() {
        return new Builder()
                .lease(lease)
                .commandTimeout(commandTimeout)
                .recheck(recheck)
                .handOverSlice(handOverSlice)
                .maxKeys(maxKeys)
                .permits(permits);
    }

    /** Collects settings; what is not given has its default. Not thread-safe. */
    public static final class Builder {

        private Duration lease = Duration.ofSeconds(15);
        private Duration commandTimeout = Duration.ofSeconds(2);
        private Duration recheck = Duration.ofMillis(500);
        private @Nullable Duration handOverSlice;
        private int maxKeys = 1_000_000;
        private PermitSettings permits = PermitSettings.BASE;

        private Builder() {}

        /** See {@link CoreSettings#lease()}. */
        public Builder lease(Duration value) {
            lease = value;
            return this;
        }

        /** See {@link CoreSettings#commandTimeout()}. */
        public Builder commandTimeout(Duration value) {
            commandTimeout = value;
            return this;
        }

        /** See {@link CoreSettings#recheck()}. */
        public Builder recheck(Duration value) {
            recheck = value;
            return this;
        }

        /** See {@link CoreSettings#handOverSlice()}. */
        public Builder handOverSlice(@Nullable Duration value) {
            handOverSlice = value;
            return this;
        }

        /** See {@link CoreSettings#maxKeys()}. */
        public Builder maxKeys(int value) {
            maxKeys = value;
            return this;
        }

        /** See {@link CoreSettings#permits()}; what is not given has its default. */
        public Builder permits(PermitSettings value) {
            permits = value.orElse(PermitSettings.BASE);
            return this;
        }

        /** The settings. */
        public CoreSettings build() {
            return new CoreSettings(lease, commandTimeout, recheck, handOverSlice, maxKeys, permits);
        }
    }
}
