package io.github.distributedpermit.benchmark.scenario;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** How long to look: quick for a first impression, full for figures to publish. */
public enum Effort {
    /** Below ten minutes on two cores. */
    QUICK(1),
    /** About half an hour: three times as many rounds, for narrower quartiles, and peers that have no mark. */
    FULL(3);

    private final int rounds;

    Effort(int rounds) {
        this.rounds = rounds;
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

    /** A slice of so many milliseconds. */
    Duration slice(long quickMillis, long fullMillis) {
        return Duration.ofMillis(isFull() ? fullMillis : quickMillis);
    }

    /** The contenders of a run, with those that have no mark, are no floor, and therefore take part only when it is full. */
    List<String> contenders(List<String> always, String... whenFull) {
        return isFull() ? Stream.concat(always.stream(), Stream.of(whenFull)).toList() : always;
    }
}
