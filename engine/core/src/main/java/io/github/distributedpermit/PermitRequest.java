package io.github.distributedpermit;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a call asks for: a key, and how. Made by {@link #of} or a {@linkplain #builder builder}. Immutable.
 *
 * <pre>{@code
 * PermitRequest.builder("tenant-42").permits(2).timeout(Duration.ofSeconds(5)).build()
 * }</pre>
 *
 * @param key what is limited
 * @param permits how many permits
 * @param block whether to wait when none is free
 * @param timeout how long to wait at most, {@code null} for ever; without meaning if {@code block} is {@code false}
 * @param name the permit's name, {@code null} if the one who uses the request says it
 * @param reentrant whether the call joins a permit of the same key that an outer call of its thread holds
 * @param onStoreFailure what happens to the call while the store does not answer
 * @param headStart how much earlier the call is queued than it arrives, {@code null} if the settings of its permit say it
 * @param limit the limit that the key has for this call, {@code null} if its permit has one. Without effect unless the limit of the
 *     permit is {@link PermitDefinition#PER_CALL}
 * @param fairBy the group that the call counts in, {@code null} for none
 * @param fairWeight how many times as many permits its group may have as one with the weight 1, 1 to 1,000
 * @param calledBy the method that makes the call, for operators; {@code null} to look for it on the stack
 */
public record PermitRequest(
        String key,
        int permits,
        boolean block,
        @Nullable Duration timeout,
        @Nullable String name,
        boolean reentrant,
        OnStoreFailure onStoreFailure,
        @Nullable Duration headStart,
        @Nullable Integer limit,
        @Nullable String fairBy,
        int fairWeight,
        @Nullable String calledBy) {

    /** The highest weight of a group. */
    public static final int HIGHEST_WEIGHT = 1_000;

    /** The longest head start. */
    public static final Duration LONGEST_HEAD_START = Duration.ofHours(1);

    /** Checks the values. */
    public PermitRequest {
        if (key == null || key.isBlank()) {
            throw new IllegalArgumentException(
                    "The key of a permit must be neither null nor blank; give the text that names"
                            + " what is limited, such as \"report-export\"");
        }
        if (permits < 1) {
            throw new IllegalArgumentException("A call takes at least 1 permit, not " + permits);
        }
        if (timeout != null && timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "The time-out " + timeout + " is negative; give zero or more, or none to wait for ever");
        }
        Objects.requireNonNull(onStoreFailure, "onStoreFailure");
        if (headStart != null && !isPossibleHeadStart(headStart)) {
            throw new IllegalArgumentException("The head start %s is not between 0 and an hour".formatted(headStart));
        }
        if (fairWeight < 1 || fairWeight > HIGHEST_WEIGHT) {
            throw new IllegalArgumentException(
                    "The weight %d of a group is not between 1 and %d".formatted(fairWeight, HIGHEST_WEIGHT));
        }
        if (limit != null && (!PermitDefinition.isPossible(limit) || permits > limit)) {
            throw new IllegalArgumentException("The limit %d of a call for %d permit(s) is not between %d and %d"
                    .formatted(limit, permits, permits, PermitDefinition.MAX_LIMIT));
        }
    }

    static boolean isPossibleHeadStart(Duration headStart) {
        return !headStart.isNegative() && headStart.compareTo(LONGEST_HEAD_START) <= 0;
    }

    /** One permit, waiting for ever. */
    public static PermitRequest of(String key) {
        return builder(key).build();
    }

    /**
     * A builder for one permit, waiting for ever, unless it is given other values.
     *
     * @param key what is limited, neither empty nor blank
     */
    public static Builder builder(String key) {
        return new Builder(key);
    }

    /** A builder that has the values of this request. */
    public Builder toBuilder() {
        Builder builder = new Builder(key);
        builder.permits = permits;
        builder.block = block;
        builder.timeout = timeout;
        builder.name = name;
        builder.reentrant = reentrant;
        builder.onStoreFailure = onStoreFailure;
        builder.headStart = headStart;
        builder.limit = limit;
        builder.fairBy = fairBy;
        builder.fairWeight = fairWeight;
        builder.calledBy = calledBy;
        return builder;
    }

    /**
     * One request for what this and the other one ask for: the permits of both, or the larger number of them if one of the
     * two is reentrant; without waiting if one of the two does not wait, with the shorter time-out, the longer head start, the lower limit, the group of the first one that has one, and the stricter of both behaviours while the store does not answer. It
     * has the name of this one.
     *
     * @throws IllegalArgumentException if the other one is for another key
     */
    public PermitRequest and(PermitRequest other) {
        if (!key.equals(other.key)) {
            throw new IllegalArgumentException("Only requests for the same key can be put together");
        }
        Builder both = toBuilder();
        both.reentrant = reentrant || other.reentrant;
        both.permits = both.reentrant
                ? Math.max(permits, other.permits)
                : (int) Math.min(Integer.MAX_VALUE, (long) permits + other.permits);
        if (timeout == null || (other.timeout != null && other.timeout.compareTo(timeout) < 0)) {
            both.timeout = other.timeout;
        }
        both.onStoreFailure = stricter(onStoreFailure, other.onStoreFailure);
        both.headStart = longer(headStart, other.headStart);
        if (limit == null || (other.limit != null && other.limit < limit)) {
            both.limit = other.limit;
        }
        if (fairBy == null) {
            both.fairBy = other.fairBy;
            both.fairWeight = other.fairWeight;
        }
        both.name = name == null ? other.name : name;
        both.calledBy = calledBy == null ? other.calledBy : calledBy;
        return block && other.block ? both.build() : both.withoutWaiting().build();
    }

    /** The longer one, as far as that is known here. */
    static @Nullable Duration longer(@Nullable Duration one, @Nullable Duration other) {
        return one == null || (other != null && other.compareTo(one) > 0) ? other : one;
    }

    /** The one that lets fewer calls run without the store, as far as that is known here. */
    private static OnStoreFailure stricter(OnStoreFailure one, OnStoreFailure other) {
        if (one == other) {
            return one;
        }
        if (one == OnStoreFailure.FAIL || other == OnStoreFailure.FAIL) {
            return OnStoreFailure.FAIL;
        }
        // of LOCAL and ALLOW, the first; of one of them and the default of a name, the default
        return one == OnStoreFailure.DEFAULT || other == OnStoreFailure.DEFAULT
                ? OnStoreFailure.DEFAULT
                : OnStoreFailure.LOCAL;
    }

    /** The same for this many permits. */
    public PermitRequest withPermits(int permits) {
        return toBuilder().permits(permits).build();
    }

    /** The same without waiting. */
    public PermitRequest withoutWaiting() {
        return toBuilder().withoutWaiting().build();
    }

    /** The same, waiting at most this long; {@code null} waits for ever. */
    public PermitRequest withTimeout(@Nullable Duration timeout) {
        return toBuilder().timeout(timeout).build();
    }

    /** Collects the values of a {@link PermitRequest}, which {@link #build} checks. Not thread-safe. */
    public static final class Builder {

        private final String key;
        private int permits = 1;
        private boolean block = true;
        private @Nullable Duration timeout;
        private @Nullable String name;
        private boolean reentrant;
        private OnStoreFailure onStoreFailure = OnStoreFailure.DEFAULT;
        private @Nullable Duration headStart;
        private @Nullable Integer limit;
        private @Nullable String fairBy;
        private int fairWeight = 1;
        private @Nullable String calledBy;

        private Builder(String key) {
            this.key = key;
        }

        /** How many permits, 1 up to the limit. Default: 1. */
        public Builder permits(int permits) {
            this.permits = permits;
            return this;
        }

        /** Does not wait when none is free. */
        public Builder withoutWaiting() {
            block = false;
            timeout = null;
            return this;
        }

        /** Waits at most this long; {@code null} waits for ever, which is the default. */
        public Builder timeout(@Nullable Duration timeout) {
            this.block = true;
            this.timeout = timeout;
            return this;
        }

        /**
         * The permit's name, as in settings and metrics. Default: the key in {@link Permits#acquireAll}. The methods of
         * {@link NamedPermits} have a name, and refuse another one here.
         */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /**
         * Joins the permit of the same key that the current thread has already by a limited method or by
         * {@link Permits#run} and its siblings, if that has at least as many permits and is still held. The joined permit
         * is not given back by its release, and is not held any more when the outer work ends: so it must not outlive that.
         * Otherwise the call takes a permit of its own. Without effect in {@link NamedPermits#acquireAsync}, whose permit
         * may outlive the work of the current thread.
         */
        public Builder reentrant() {
            this.reentrant = true;
            return this;
        }

        /** What happens to the call while the store does not answer. Default: as the settings of its permit say. */
        public Builder onStoreFailure(OnStoreFailure onStoreFailure) {
            this.onStoreFailure = onStoreFailure;
            return this;
        }

        /**
         * Queues the call as if it had arrived this much earlier, at most an hour, so that it overtakes calls that have waited for less
         * long. Zero for none. Default: as the settings of its permit say. Without effect on a call that does not wait.
         */
        public Builder headStart(@Nullable Duration headStart) {
            this.headStart = headStart;
            return this;
        }

        /**
         * The limit that the key has for this call, 1 to 1,000,000: the call gets its permits while no more than this are in use, of all
         * calls. For permits whose limit is {@link PermitDefinition#PER_CALL}; has no effect on others.
         */
        public Builder limit(@Nullable Integer limit) {
            this.limit = limit;
            return this;
        }

        /**
         * The group that the call counts in, such as its tenant. The next permit of the key in this process goes to the group that uses the
         * fewest there, and within it to the call that came first. Default: none; such calls are one group beside others.
         */
        public Builder fairBy(@Nullable String fairBy) {
            this.fairBy = fairBy;
            return this;
        }

        /** How many times as many permits the group may have as one with the weight 1, 1 to 1,000. Default: 1. */
        public Builder fairWeight(int fairWeight) {
            this.fairWeight = fairWeight;
            return this;
        }

        /**
         * The method that makes the call, as the endpoint {@code permits} and the log name it. Default: it is looked for on the stack while
         * the endpoint is exposed, for a thousand calls in a second at most.
         */
        public Builder calledBy(@Nullable String method) {
            this.calledBy = method;
            return this;
        }

        /**
         * The request.
         *
         * @throws IllegalArgumentException if a value is out of range
         */
        public PermitRequest build() {
            return new PermitRequest(
                    key,
                    permits,
                    block,
                    timeout,
                    name,
                    reentrant,
                    onStoreFailure,
                    headStart,
                    limit,
                    fairBy,
                    fairWeight,
                    calledBy);
        }
    }
}
