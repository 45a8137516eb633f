package io.github.distributedpermit.backend.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Holds calls, in order, until the first attempt to connect has ended. An application that needs a permit right after its
 * start so waits for the connection instead of getting an error. Thread-safe.
 */
final class PendingCalls {

    /** Bounds the memory if Redis is away when the application starts. */
    static final int CAPACITY = 10_000;

    /** Guarded by its own monitor; a delivery never runs with it. */
    private final Deque<Runnable> held = new ArrayDeque<>();
    /** Set once: after the first attempt calls fail at once instead of being held. */
    private volatile boolean released;

    /** Whether calls are no longer held. Read without the monitor, because every call passes here. */
    boolean isReleased() {
        return released;
    }

    /**
     * Holds the call, or fails it if too many are held.
     *
     * @param delivery runs when calls are released
     * @return whether the call needs nothing more of the caller
     */
    boolean holdCall(Call<?> call, Runnable delivery) {
        synchronized (held) {
            if (released) {
                return false;
            }
            if (held.size() < CAPACITY) {
                held.add(delivery);
                return true;
            }
        }
        call.failUnsent("Redis can't be reached yet, and " + CAPACITY + " calls wait for the connection already");
        return true;
    }

    /**
     * Delivers all held calls; later ones are not held. Runs on the thread of the ConnectionManager. An error of one
     * delivery leaves the others held for the next attempt.
     */
    void releaseCalls() {
        for (Runnable delivery = next(); delivery != null; delivery = next()) {
            delivery.run();
        }
    }

    /** Calls that arrive during the release are appended, and are delivered behind the others. */
    private @Nullable Runnable next() {
        if (released) {
            return null;
        }
        synchronized (held) {
            Runnable first = held.poll();
            released = first == null; // only when none is left, so that later calls do not overtake held ones
            return first;
        }
    }
}
