package io.github.distributedpermit.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What holds for all permits, unless a name's {@link PermitSettings} say otherwise. Immutable.
 *
 * @param lease how long a holding outlives the member's last sign of life
 * @param commandTimeout how long the store may take to answer one claim
 * @param storeTimeout how long any call waits for a store that does not answer, before it fails; further calls then fail
 *     at once until the store answers. Not less than the command time-out
 * @param recheck how often waiting calls ask again, in case a notification was lost
 * @param window claims of one key that may be in flight
 * @param handOverSlice how long permits pass from call to call within this process while other members wait; {@code null}: as long as
 *     the store takes for a few answers
 * @param linger how long a released permit may stay with this process; a member that begins to wait meanwhile gets it only after
 *     that time
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
    public static final CoreSettings DEFAULTS = new Builder().build();

    /** A builder that has the values of these settings. */
    public Builder toBuilder() {
        return new Builder()
                .lease(lease)
                .commandTimeout(commandTimeout)
                .storeTimeout(storeTimeout)
                .recheck(recheck)
                .window(window)
                .handOverSlice(handOverSlice)
                .linger(linger)
                .release(release)
                .maxWaiters(maxWaiters)
                .maxKeys(maxKeys);
    }

    /** Collects settings; what is not given has its default. Not thread-safe. */
    public static final class Builder {

        private Duration lease = Duration.ofSeconds(15);
        private Duration commandTimeout = Duration.ofSeconds(2);
        private Duration storeTimeout = Duration.ofSeconds(10);
        private Duration recheck = Duration.ofMillis(500);
        private int window = 4;
        private @Nullable Duration handOverSlice;
        private Duration linger = Duration.ZERO;
        private Release release = Release.ASYNC;
        private int maxWaiters = 10_000;
        private int maxKeys = 1_000_000;

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

        /** See {@link CoreSettings#storeTimeout()}. */
        public Builder storeTimeout(Duration value) {
            storeTimeout = value;
            return this;
        }

        /** See {@link CoreSettings#recheck()}. */
        public Builder recheck(Duration value) {
            recheck = value;
            return this;
        }

        /** See {@link CoreSettings#window()}. */
        public Builder window(int value) {
            window = value;
            return this;
        }

        /** See {@link CoreSettings#handOverSlice()}. */
        public Builder handOverSlice(@Nullable Duration value) {
            handOverSlice = value;
            return this;
        }

        /** See {@link CoreSettings#linger()}. */
        public Builder linger(Duration value) {
            linger = value;
            return this;
        }

        /** See {@link CoreSettings#release()}. */
        public Builder release(Release value) {
            release = value;
            return this;
        }

        /** See {@link CoreSettings#maxWaiters()}. */
        public Builder maxWaiters(int value) {
            maxWaiters = value;
            return this;
        }

        /** See {@link CoreSettings#maxKeys()}. */
        public Builder maxKeys(int value) {
            maxKeys = value;
            return this;
        }

        /** The settings. */
        public CoreSettings build() {
            return new CoreSettings(
                    lease,
                    commandTimeout,
                    storeTimeout,
                    recheck,
                    window,
                    handOverSlice,
                    linger,
                    release,
                    maxWaiters,
                    maxKeys);
        }
    }
}
