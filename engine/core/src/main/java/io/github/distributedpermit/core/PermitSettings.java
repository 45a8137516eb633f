package io.github.distributedpermit.core;

import static java.util.Objects.requireNonNull;

import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is said of a permit in one place: by the settings of a name or a pattern, by a declaration such as an annotation, or by the
 * defaults for all. What is {@code null} is up to the next place. Immutable. Spring Boot binds it as it is, so its components are the names of the
 * properties.
 *
 * @param limit How many permits a key of this name has over all instances, 1 to 1,000,000, or 'unlimited'.
 * @param block Whether calls wait in the queue when no permit is free; in code those that do not say themselves.
 * @param timeout How long calls wait at most.
 * @param storeTimeout How long any call waits for a store that does not answer, before it ends with PermitBackendException.
 * @param linger How long a released permit may stay with its instance, to save the next call the way to the store. Meanwhile no other
 *     instance gets it.
 * @param release Whether giving back a permit waits for the store's confirmation.
 * @param onReject Whether a call of an annotated method that gets no permit throws or is skipped.
 * @param holdAtLeast How long an annotated method holds a permit at least, also if it returns earlier.
 * @param onStoreFailure What happens to calls once the store has not answered for the store time-out: they fail, run
 *     without it, or share this instance's part of the limit.
 * @param maxWaiting How many calls of one instance may wait for one key, before a further call is rejected.
 * @param rejectHopeless Whether a call is rejected at once if its time-out will surely pass before its turn.
 * @param headStart How much earlier a call is queued than it arrives, so that it overtakes calls that have waited for less long.
 * @param within Name of the permit that each call takes as well, after this one.
 */
public record PermitSettings(
        @Nullable Limit limit,
        @Nullable Boolean block,
        @Nullable Duration timeout,
        @Nullable Duration storeTimeout,
        @Nullable Duration linger,
        @Nullable Release release,
        @Nullable OnReject onReject,
        @Nullable Duration holdAtLeast,
        @Nullable OnStoreFailure onStoreFailure,
        @Nullable Integer maxWaiting,
        @Nullable Boolean rejectHopeless,
        @Nullable Duration headStart,
        @Nullable String within) {

    /** Nothing is set. */
    public static final PermitSettings NONE = builder().build();

    /** What applies where no place says anything: such permits wait for a store for ten seconds, return at once,
     * and have a bounded queue. */
    public static final PermitSettings BASE = builder()
            .storeTimeout(Duration.ofSeconds(10))
            .linger(Duration.ZERO)
            .release(Release.ASYNC)
            .onReject(OnReject.DEFAULT)
            .holdAtLeast(Duration.ZERO)
            .onStoreFailure(OnStoreFailure.DEFAULT)
            .maxWaiting(10_000)
            .rejectHopeless(false)
            .build();

    /** A builder that sets nothing yet. */
    public static Builder builder() {
        return new Builder();
    }

    /** A limit, and nothing else. */
    public static PermitSettings ofLimit(int limit) {
        return builder().limit(limit).build();
    }

    /** What a declaration says. */
    public static PermitSettings of(PermitDefinition declared) {
        return builder()
                .limit(declared.limit())
                .block(declared.block())
                .timeout(declared.timeout())
                .onReject(declared.onReject() == OnReject.DEFAULT ? null : declared.onReject())
                .holdAtLeast(declared.holdAtLeast().isZero() ? null : declared.holdAtLeast())
                .onStoreFailure(declared.onStoreFailure() == OnStoreFailure.DEFAULT ? null : declared.onStoreFailure())
                .headStart(declared.headStart())
                .within(declared.within())
                .build();
    }

    /** The declaration with what these settings say, which are complete but for the limit and the time-out. */
    public PermitDefinition over(PermitDefinition declared) {
        return declared.toBuilder()
                .limit(limit == null ? null : limit.permits())
                .block(requireNonNull(block))
                .timeout(timeout)
                .onReject(requireNonNull(onReject))
                .holdAtLeast(requireNonNull(holdAtLeast))
                .onStoreFailure(requireNonNull(onStoreFailure))
                .headStart(headStart)
                .within(within)
                .build();
    }

    /** These settings, and those of the other ones for what is not set here. */
    public PermitSettings orElse(PermitSettings other) {
        return new PermitSettings(
                first(limit, other.limit),
                first(block, other.block),
                first(timeout, other.timeout),
                first(storeTimeout, other.storeTimeout),
                first(linger, other.linger),
                first(release, other.release),
                first(onReject, other.onReject),
                first(holdAtLeast, other.holdAtLeast),
                first(onStoreFailure, other.onStoreFailure),
                first(maxWaiting, other.maxWaiting),
                first(rejectHopeless, other.rejectHopeless),
                first(headStart, other.headStart),
                first(within, other.within));
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    /** Collects settings. Not thread-safe. */
    public static final class Builder {

        private @Nullable Limit limit;
        private @Nullable Boolean block;
        private @Nullable Duration timeout;
        private @Nullable Duration storeTimeout;
        private @Nullable Duration linger;
        private @Nullable Release release;
        private @Nullable OnReject onReject;
        private @Nullable Duration holdAtLeast;
        private @Nullable OnStoreFailure onStoreFailure;
        private @Nullable Integer maxWaiting;
        private @Nullable Boolean rejectHopeless;
        private @Nullable Duration headStart;
        private @Nullable String within;

        private Builder() {}

        /** See {@link PermitSettings#limit()}. */
        public Builder limit(@Nullable Integer value) {
            limit = value == null ? null : Limit.of(value);
            return this;
        }

        /** See {@link PermitSettings#block()}. */
        public Builder block(@Nullable Boolean value) {
            block = value;
            return this;
        }

        /** See {@link PermitSettings#timeout()}. */
        public Builder timeout(@Nullable Duration value) {
            timeout = value;
            return this;
        }

        /** See {@link PermitSettings#storeTimeout()}. */
        public Builder storeTimeout(@Nullable Duration value) {
            storeTimeout = value;
            return this;
        }

        /** See {@link PermitSettings#linger()}. */
        public Builder linger(@Nullable Duration value) {
            linger = value;
            return this;
        }

        /** See {@link PermitSettings#release()}. */
        public Builder release(@Nullable Release value) {
            release = value;
            return this;
        }

        /** See {@link PermitSettings#onReject()}. */
        public Builder onReject(@Nullable OnReject value) {
            onReject = value;
            return this;
        }

        /** See {@link PermitSettings#holdAtLeast()}. */
        public Builder holdAtLeast(@Nullable Duration value) {
            holdAtLeast = value;
            return this;
        }

        /** See {@link PermitSettings#onStoreFailure()}. */
        public Builder onStoreFailure(@Nullable OnStoreFailure value) {
            onStoreFailure = value;
            return this;
        }

        /** See {@link PermitSettings#maxWaiting()}. */
        public Builder maxWaiting(@Nullable Integer value) {
            maxWaiting = value;
            return this;
        }

        /** See {@link PermitSettings#rejectHopeless()}. */
        public Builder rejectHopeless(@Nullable Boolean value) {
            rejectHopeless = value;
            return this;
        }

        /** See {@link PermitSettings#headStart()}. */
        public Builder headStart(@Nullable Duration value) {
            headStart = value;
            return this;
        }

        /** See {@link PermitSettings#within()}. */
        public Builder within(@Nullable String value) {
            within = value;
            return this;
        }

        /** The settings. */
        public PermitSettings build() {
            return new PermitSettings(
                    limit,
                    block,
                    timeout,
                    storeTimeout,
                    linger,
                    release,
                    onReject,
                    holdAtLeast,
                    onStoreFailure,
                    maxWaiting,
                    rejectHopeless,
                    headStart,
                    within);
        }
    }
}
