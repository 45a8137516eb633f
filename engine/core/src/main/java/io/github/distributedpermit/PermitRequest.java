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
 */
public final class PermitRequest {

    private final String key;
    private final int permits;
    private final boolean block;
    private final @Nullable Duration timeout;

    private PermitRequest(Builder builder) {
        this.key = builder.key;
        this.permits = builder.permits;
        this.block = builder.block;
        this.timeout = builder.timeout;
    }

    /** One permit, waiting for ever. */
    public static PermitRequest of(String key) {
        return builder(key).build();
    }

    /**
     * A builder for one permit, waiting for ever, unless it is given other values.
     *
     * @param key what is limited, neither empty nor blank
     * @throws IllegalArgumentException if the key is null or blank
     */
    public static Builder builder(String key) {
        if (key == null || key.isBlank()) {
            throw new IllegalArgumentException(
                    "The key of a permit must be neither null nor blank; give the text that names"
                            + " what is limited, such as \"report-export\"");
        }
        return new Builder(key);
    }

    /** A builder that has the values of this request. */
    public Builder toBuilder() {
        Builder builder = new Builder(key);
        builder.permits = permits;
        builder.block = block;
        builder.timeout = timeout;
        return builder;
    }

    /** What is limited. */
    public String key() {
        return key;
    }

    /** How many permits. */
    public int permits() {
        return permits;
    }

    /** Whether to wait when none is free. */
    public boolean block() {
        return block;
    }

    /** How long to wait at most, {@code null} for ever; without meaning if {@link #block()} is {@code false}. */
    public @Nullable Duration timeout() {
        return timeout;
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

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PermitRequest that
                && key.equals(that.key)
                && permits == that.permits
                && block == that.block
                && Objects.equals(timeout, that.timeout);
    }

    @Override
    public int hashCode() {
        return Objects.hash(key, permits, block, timeout);
    }

    @Override
    public String toString() {
        return "PermitRequest[key=%s, permits=%d, block=%s, timeout=%s]".formatted(key, permits, block, timeout);
    }

    /** Collects the values of a {@link PermitRequest}, and checks each of them. Not thread-safe. */
    public static final class Builder {

        private final String key;
        private int permits = 1;
        private boolean block = true;
        private @Nullable Duration timeout;

        private Builder(String key) {
            this.key = key;
        }

        /** How many permits, 1 up to the limit. Default: 1. */
        public Builder permits(int permits) {
            if (permits < 1) {
                throw new IllegalArgumentException("A call takes at least 1 permit, not " + permits);
            }
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
            if (timeout != null && timeout.isNegative()) {
                throw new IllegalArgumentException(
                        "The time-out " + timeout + " is negative; give zero or more, or none to wait for ever");
            }
            this.block = true;
            this.timeout = timeout;
            return this;
        }

        /** The request. */
        public PermitRequest build() {
            return new PermitRequest(this);
        }
    }
}
