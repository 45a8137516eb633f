package io.github.distributedpermit.benchmark.footprint;

import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What one start of an application took.
 *
 * @param readySeconds from the start of the process until the context is ready and one command of Redis has been answered
 * @param firstCallMillis the first call of the service after that; with this library it takes the first permit
 * @param classes that are loaded after that call
 * @param heapMegabytes of live objects then
 * @param threads that run then
 * @param connections to Redis that are open then
 */
public record Footprint(
        double readySeconds, double firstCallMillis, int classes, double heapMegabytes, int threads, int connections) {

    static String line(long ready, long firstCall, long classes, long heap, int threads) {
        return LongStream.of(ready, firstCall, classes, heap, threads)
                .mapToObj(Long::toString)
                .collect(Collectors.joining("\t"));
    }

    /** Reads {@link #line}; {@code System.nanoTime} is one clock for all processes of a Linux machine. */
    static Footprint parse(String line, long started, int connections) {
        String[] fields = line.split("\t", -1);
        return new Footprint(
                (Long.parseLong(fields[0]) - started) / 1e9,
                Long.parseLong(fields[1]) / 1e6,
                Integer.parseInt(fields[2]),
                Long.parseLong(fields[3]) / 1e6,
                Integer.parseInt(fields[4]),
                connections);
    }
}
