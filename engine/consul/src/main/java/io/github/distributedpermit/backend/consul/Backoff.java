package io.github.distributedpermit.backend.consul;

import java.util.concurrent.ThreadLocalRandom;

/** Growing pauses between repetitions, with jitter, so that members that failed together do not repeat together. Not thread-safe; confined to its owner. */
final class Backoff {

    private final long shortest;
    private final long longest;
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

    void reset() {
        pause = shortest;
    }
}
