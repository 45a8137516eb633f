package io.github.distributedpermit;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A permit as declared in one place, by an annotation or in code; what {@link PermitCatalog#define} returns is the same
 * with the settings of its name applied. Made by a {@linkplain #named builder}. Immutable.
 *
 * @param name what settings and metrics call it
 * @param key the literal key, {@code null} if it is made for each call
 * @param limit how many permits a key has, {@link #UNLIMITED} for no limit, {@link #PER_CALL} if each call states
 *     its own, {@code null} if the settings have to say
 * @param permits how many of them one call takes
 * @param block whether a call waits
 * @param timeout how long it waits at most, {@code null} for ever
 * @param onReject what happens to a call of an annotated method that gets no permit
 * @param holdAtLeast how long an annotated method holds a permit at least
 * @param onStoreFailure what happens to calls while the store does not answer
 * @param headStart how much earlier a call is queued than it arrives, {@code null} if each call says it
 * @param within the name of the permit that a call takes as well, after this one; {@code null} if there is none
 * @param origin where it was declared, for messages, such as {@code ReportService.export(long)}
 */
public record PermitDefinition(
        String name,
        @Nullable String key,
        @Nullable Integer limit,
        int permits,
        boolean block,
        @Nullable Duration timeout,
        OnReject onReject,
        Duration holdAtLeast,
        OnStoreFailure onStoreFailure,
        @Nullable Duration headStart,
        @Nullable String within,
        String origin) {

    /** How many permits lie {@linkplain #within() within} each other at most. */
    public static final int LONGEST_CHAIN = 8;

    /** The origin of a permit that only the settings define. */
    public static final String SETTINGS = "the settings";

    /** The highest limit of a key. */
    public static final int MAX_LIMIT = 1_000_000;

    /** As a limit: none. Calls get their permit at once and do not ask the store. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /** As a limit: each call {@linkplain PermitRequest#limit() states its own}, unless the settings give one. */
    public static final int PER_CALL = Integer.MAX_VALUE - 1;

    /** Checks the values; messages name the origin. */
    public PermitDefinition {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(origin, "origin");
        if (name.isBlank()) {
            throw new IllegalArgumentException(origin + ": the name of a permit must not be blank");
        }
        if (limit != null && limit < PER_CALL && !isPossible(limit)) {
            throw new IllegalArgumentException(
                    "%s: limit %d of permit '%s' is not between 1 and %d".formatted(origin, limit, name, MAX_LIMIT));
        }
        if (permits < 1 || (limit != null && permits > limit)) {
            throw new IllegalArgumentException(
                    "%s: a call of permit '%s' cannot take %d permits; give 1 up to the limit%s"
                            .formatted(origin, name, permits, limit == null ? "" : " of " + limit));
        }
        if (holdAtLeast.isNegative()) {
            throw new IllegalArgumentException("%s: permit '%s' cannot be held at least %s; give zero or more"
                    .formatted(origin, name, holdAtLeast));
        }
        if (headStart != null && !PermitRequest.isPossibleHeadStart(headStart)) {
            throw new IllegalArgumentException(
                    "%s: head start %s of permit '%s' is not between 0 and an hour".formatted(origin, headStart, name));
        }
        if (timeout != null && timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "%s: time-out %s of permit '%s' is negative; give zero or more".formatted(origin, timeout, name));
        }
    }

    /**
     * A builder for a permit of this name: one permit for each call, which waits without a time-out, unless it is given
     * other values.
     *
     * @param name what settings and metrics call it
     * @param origin where it is declared, for messages
     */
    public static Builder named(String name, String origin) {
        return new Builder(name, origin);
    }

    /** A builder that has the values of this definition. */
    public Builder toBuilder() {
        return named(name, origin)
                .key(key)
                .limit(limit)
                .permits(permits)
                .block(block)
                .timeout(timeout)
                .onReject(onReject)
                .holdAtLeast(holdAtLeast)
                .onStoreFailure(onStoreFailure)
                .headStart(headStart)
                .within(within);
    }

    static boolean isPossible(int limit) {
        return limit >= 1 && limit <= MAX_LIMIT;
    }

    /** Whether each call states its own limit. */
    public boolean isLimitedPerCall() {
        return limit != null && limit == PER_CALL;
    }

    /** Whether there is no limit. */
    public boolean isUnlimited() {
        return limit != null && limit == UNLIMITED;
    }

    /**
     * The key of calls that name none: the literal one, or the name if only the settings define the permit; {@code null} if it is
     * made for each call.
     */
    public @Nullable String usualKey() {
        return key == null && origin.equals(SETTINGS) ? name : key;
    }

    /** What a call of this permit asks for with this key. */
    public PermitRequest request(String key) {
        return requestBuilder(key).build();
    }

    /** The same, for a call that has something of its own besides. */
    public PermitRequest.Builder requestBuilder(String key) {
        PermitRequest.Builder request = PermitRequest.builder(key)
                .name(name)
                .permits(permits)
                .timeout(timeout)
                .onStoreFailure(onStoreFailure)
                .headStart(headStart);
        return block ? request : request.withoutWaiting();
    }

    /** Collects the values of a {@link PermitDefinition}. Not thread-safe. */
    public static final class Builder {

        private final String name;
        private final String origin;
        private @Nullable String key;
        private @Nullable Integer limit;
        private int permits = 1;
        private boolean block = true;
        private @Nullable Duration timeout;
        private OnReject onReject = OnReject.DEFAULT;
        private Duration holdAtLeast = Duration.ZERO;
        private OnStoreFailure onStoreFailure = OnStoreFailure.DEFAULT;
        private @Nullable Duration headStart;
        private @Nullable String within;

        private Builder(String name, String origin) {
            this.name = name;
            this.origin = origin;
        }

        /** See {@link PermitDefinition#key()}. */
        public Builder key(@Nullable String key) {
            this.key = key;
            return this;
        }

        /** See {@link PermitDefinition#limit()}. */
        public Builder limit(@Nullable Integer limit) {
            this.limit = limit;
            return this;
        }

        /** See {@link PermitDefinition#permits()}. */
        public Builder permits(int permits) {
            this.permits = permits;
            return this;
        }

        /** See {@link PermitDefinition#block()}. */
        public Builder block(boolean block) {
            this.block = block;
            return this;
        }

        /** See {@link PermitDefinition#timeout()}. */
        public Builder timeout(@Nullable Duration timeout) {
            this.timeout = timeout;
            return this;
        }

        /** See {@link PermitDefinition#onReject()}. */
        public Builder onReject(OnReject onReject) {
            this.onReject = onReject;
            return this;
        }

        /** See {@link PermitDefinition#holdAtLeast()}. */
        public Builder holdAtLeast(Duration holdAtLeast) {
            this.holdAtLeast = holdAtLeast;
            return this;
        }

        /** See {@link PermitDefinition#onStoreFailure()}. */
        public Builder onStoreFailure(OnStoreFailure onStoreFailure) {
            this.onStoreFailure = onStoreFailure;
            return this;
        }

        /** See {@link PermitDefinition#headStart()}. */
        public Builder headStart(@Nullable Duration headStart) {
            this.headStart = headStart;
            return this;
        }

        /** See {@link PermitDefinition#within()}. */
        public Builder within(@Nullable String within) {
            this.within = within;
            return this;
        }

        /**
         * The definition.
         *
         * @throws IllegalArgumentException if a value is out of range
         */
        public PermitDefinition build() {
            return new PermitDefinition(
                    name,
                    key,
                    limit,
                    permits,
                    block,
                    timeout,
                    onReject,
                    holdAtLeast,
                    onStoreFailure,
                    headStart,
                    within,
                    origin);
        }
    }
}
