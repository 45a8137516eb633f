package io.github.distributedpermit.spi.snapshot;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How an attempt goes on after conflicts: at once after the first two, then after 0.2 to 0.4 ms, doubling up to 50
 * ms, because a commit that fails costs the store as much as one that succeeds. Confined to its {@link
 * CommitAttempt}. The first repetitions are immediate, because with few members the second attempt succeeds as a
 * rule.
 */
final class ConflictPause {

    /** Conflicts that are followed by no pause. */
    private static final int AT_ONCE = 2;
    /** 0.2 ms doubled seven times is 25.6 ms, so that the longest pause with its jitter is about 51 ms. */
    private static final int MOST_DOUBLINGS = 7;
    /**
     * In nanoseconds. A transaction of Consul or ZooKeeper takes some milliseconds; a shorter pause would lead to the
     * same conflict.
     */
    private static final long SHORTEST = TimeUnit.MICROSECONDS.toNanos(200);

    private int conflicts;

    int conflicts() {
        return conflicts;
    }

    /** Counts a conflict; nanoseconds to wait. */
    long next() {
        conflicts++;
        if (conflicts <= AT_ONCE) {
            return 0;
        }
        long least = SHORTEST << Math.min(conflicts - AT_ONCE - 1, MOST_DOUBLINGS);
        // Without jitter, members that conflicted once would repeat at the same time and conflict again.
        return ThreadLocalRandom.current().nextLong(least, 2 * least);
    }
}
