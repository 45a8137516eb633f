package io.github.distributedpermit.backend.consul;

import java.util.concurrent.ThreadLocalRandom;

/** Growing pauses between repetitions, with jitter, so that members that failed together do not repeat together. Not thread-safe; confined to its owner. */
final class Backoff {

    /** The first pause, and the one after {@link #reset}. */
    private final long shortest;

    private final long longest;
    /** The least length of the next pause. */
    private long pause;

    /** Pauses in nanoseconds. */
    Backoff(long shortest, long longest) {
        this.shortest = shortest;
        this.longest = longest;
        this.pause = shortest;
    }

    /** From the pause to twice the pause, which doubles each time. */
    long next() {
        long nanos = pause + ThreadLocalRandom.current().nextLong(pause + 1);
        pause = Math.min(longest, pause * 2);
        return nanos;
    }

    /** Called after a success, so that the next failure is followed by a short pause again. */
    void reset() {
        pause = shortest;
    }
}
