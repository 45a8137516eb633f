package io.github.distributedpermit.benchmark.scenario;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

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

    /** Whether the figures are to be published. */
    boolean isFull() {
        return this == FULL;
    }

    /** So many rounds when quick, more when full. */
    int rounds(int quick) {
        return quick * rounds;
    }

    /** The same where a full run has not three times as many. */
    int rounds(int quick, int full) {
        return isFull() ? full : quick;
    }

    /** A slice of so many milliseconds when quick, longer when full. */
    Duration slice(long quickMillis) {
        return Duration.ofMillis(quickMillis * lengths);
    }

    /** The same where a slice of a full run has not twice the length. */
    Duration slice(long quickMillis, long fullMillis) {
        return Duration.ofMillis(isFull() ? fullMillis : quickMillis);
    }

    /** The contenders of a run, with those that have no mark, are no floor, and therefore take part only when it is full. */
    List<String> contenders(List<String> always, String... whenFull) {
        return isFull() ? Stream.concat(always.stream(), Stream.of(whenFull)).toList() : always;
    }
}
