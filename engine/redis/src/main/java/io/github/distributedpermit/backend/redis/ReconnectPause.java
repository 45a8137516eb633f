package io.github.distributedpermit.backend.redis;

import java.util.concurrent.TimeUnit;

/**
 * The pauses between attempts to connect: they double from 50 ms to 500 ms, and start again after a connection that lasted.
 * A server that accepts connections and closes them at once is paused for like one that refuses them. Not thread-safe.
 *
 * <p>Times are from {@link System#nanoTime}.
 */
final class ReconnectPause {

    private static final long FIRST_MILLIS = 50;
    private static final long LONGEST_MILLIS = 500;
    /** A connection that has lived this long is a good one, so that its loss is followed by an attempt at once. */
    private static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** In milliseconds. */
    private long nextMillis = FIRST_MILLIS;
    /** Only meaningful while {@link #connected}. */
    private long connectedAt;

    private boolean connected;

    /** A connection was made. */
    void connected(long now) {
        connected = true;
        connectedAt = now;
    }

    /** Whether the connection has lasted for so long that its loss needs no pause. */
    boolean hasLasted(long now) {
        return connected && now - connectedAt >= LASTING_NANOS;
    }

    /** The next pause is the shortest. */
    void restart() {
        nextMillis = FIRST_MILLIS;
    }

    /**
     * The connection was lost.
     *
     * @return whether a pause is due before the next attempt, because it was lost soon after it was made
     */
    boolean lost(long now) {
        boolean early = connected && !hasLasted(now);
        connected = false;
        return early;
    }

    /**
     * The next pause.
     *
     * @return in milliseconds
     */
    long takeMillis() {
        long taken = nextMillis;
        nextMillis = Math.min(2 * taken, LONGEST_MILLIS);
        return taken;
    }
}
