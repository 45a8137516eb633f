package io.github.distributedpermit.core;

import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitDefinition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the user has set for one permit name, under {@code distributed-permit.permits.<name>}. What is {@code null} is up to
 * the declaration, such as an annotation, and then to {@link CoreSettings}. Immutable. Spring Boot binds it as it is, so
 * its components are the names of the properties.
 *
 * @param limit How many permits a key of this name has over all instances, 1 to 1,000,000, or 'unlimited'.
 * @param block Whether calls wait in the queue when no permit is free; in code those that do not say themselves.
 * @param timeout How long calls wait at most.
 * @param storeTimeout How long any call waits for a store that does not answer, before it ends with PermitBackendException.
 * @param linger How long a released permit may stay with its instance, to save the next call the way to the store.
 * @param release Whether giving back a permit waits for the store's confirmation.
 * @param onReject Whether a call of an annotated method that gets no permit throws or is skipped.
 * @param holdAtLeast How long an annotated method holds a permit at least, also if it returns earlier.
 * @param onStoreFailure What happens to calls once the store has not answered for the store time-out: they fail, run
 *     without it, or share this instance's part of the limit.
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
        @Nullable OnStoreFailure onStoreFailure) {

    /** Nothing is set. */
    public static final PermitSettings NONE = builder().build();

    /** A builder that sets nothing yet. */
    public static Builder builder() {
        return new Builder();
    }

    /** A limit, and nothing else. */
    public static PermitSettings ofLimit(int limit) {
        return builder().limit(limit).build();
    }

    /** The declaration as it takes effect: what is set here wins over what it says. */
    public PermitDefinition over(PermitDefinition declared) {
        PermitDefinition.Builder effective = declared.toBuilder();
        if (limit != null) {
            effective.limit(limit.permits());
        }
        if (block != null) {
            effective.block(block);
        }
        if (timeout != null) {
            effective.timeout(timeout);
        }
        if (onReject != null) {
            effective.onReject(onReject);
        }
        if (holdAtLeast != null) {
            effective.holdAtLeast(holdAtLeast);
        }
        if (onStoreFailure != null) {
            effective.onStoreFailure(onStoreFailure);
        }
        return effective.build();
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
                first(onStoreFailure, other.onStoreFailure));
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    /**
     * The declaration with these settings for what it leaves open: its time-out, what happens to rejected calls, how long
     * a permit is held at least, and what happens while the store does not answer.
     */
    public PermitDefinition under(PermitDefinition declared) {
        PermitDefinition.Builder effective = declared.toBuilder();
        if (declared.timeout() == null) {
            effective.timeout(timeout);
        }
        if (declared.onReject() == OnReject.DEFAULT && onReject != null) {
            effective.onReject(onReject);
        }
        if (declared.holdAtLeast().isZero() && holdAtLeast != null) {
            effective.holdAtLeast(holdAtLeast);
        }
        if (declared.onStoreFailure() == OnStoreFailure.DEFAULT && onStoreFailure != null) {
            effective.onStoreFailure(onStoreFailure);
        }
        return effective.build();
    }

    /** The general settings as they take effect for this name. */
    public CoreSettings over(CoreSettings general) {
        CoreSettings.Builder effective = general.toBuilder();
        if (storeTimeout != null) {
            effective.storeTimeout(storeTimeout);
        }
        if (linger != null) {
            effective.linger(linger);
        }
        if (release != null) {
            effective.release(release);
        }
        return effective.build();
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

        /** The settings. */
        public PermitSettings build() {
            return new PermitSettings(
                    limit, block, timeout, storeTimeout, linger, release, onReject, holdAtLeast, onStoreFailure);
        }
    }
}
