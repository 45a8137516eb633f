package io.github.distributedpermit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a call asks for.
 *
 * @param key what is limited, neither empty nor blank
 * @param permits how many permits, 1 up to the limit
 * @param block whether to wait in line when none is free
 * @param timeout how long to wait at most, {@code null} for ever; without meaning if {@code block} is {@code false}
 */
public record PermitRequest(
        String key, int permits, boolean block, @Nullable Duration timeout) {

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
    }

    /** One permit, waiting for ever. */
    public static PermitRequest of(String key) {
        return new PermitRequest(key, 1, true, null);
    }

    /** The same for this many permits. */
    public PermitRequest withPermits(int permits) {
        return new PermitRequest(key, permits, block, timeout);
    }

    /** The same without waiting. */
    public PermitRequest withoutWaiting() {
        return new PermitRequest(key, permits, false, null);
    }

    /** The same, waiting at most this long; {@code null} waits for ever. */
    public PermitRequest withTimeout(@Nullable Duration timeout) {
        return new PermitRequest(key, permits, true, timeout);
    }
}
