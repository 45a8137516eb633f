package io.github.distributedpermit.benchmark.scenario;

import java.time.Duration;

/** How long to look: quick for a first impression, full for figures to publish. */
public enum Effort {
    /** Below ten minutes on two cores. */
    QUICK(1, 1),
    /** About half an hour. */
    FULL(3, 2);

    private final int rounds;
    private final int lengths;

    Effort(int rounds, int lengths) {
        this.rounds = rounds;
        this.lengths = lengths;
    }

    /** So many rounds when quick, more when full. */
    int rounds(int quick) {
        return quick * rounds;
    }

    /** A slice of so many milliseconds when quick, longer when full. */
    Duration slice(long quickMillis) {
        return Duration.ofMillis(quickMillis * lengths);
    }
}
