package io.github.distributedpermit.benchmark.load;

import java.time.Duration;

/**
 * What the threads of one process do in a slice: in a closed loop, enter, hold, leave.
 *
 * @param threads of each process
 * @param processes how many processes do the same
 * @param keys how many keys there are; each call picks one at random
 * @param limit of each key
 * @param hold how long a call holds its permit; zero to leave at once
 * @param pause how long a thread pauses between two calls; zero to ask again at once
 * @param slice how long a slice takes
 */
public record Workload(int threads, int processes, int keys, int limit, Duration hold, Duration pause, Duration slice) {

    /** Threads of one process on one key. */
    public static Workload of(int threads, int limit, Duration hold, Duration slice) {
        return new Workload(threads, 1, 1, limit, hold, Duration.ZERO, slice);
    }

    /** All threads of all processes. */
    public int seats() {
        return threads * processes;
    }

    /** The same in several processes. */
    public Workload in(int number) {
        return new Workload(threads, number, keys, limit, hold, pause, slice);
    }

    /** The same on several keys. */
    public Workload on(int number) {
        return new Workload(threads, processes, number, limit, hold, pause, slice);
    }

    /** The same with a pause between two calls of a thread. */
    public Workload spaced(Duration between) {
        return new Workload(threads, processes, keys, limit, hold, between, slice);
    }
}
