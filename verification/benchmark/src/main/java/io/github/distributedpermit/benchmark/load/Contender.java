package io.github.distributedpermit.benchmark.load;

/** A limiter to measure: this project, a peer, or a floor that limits nothing. Thread-safe. */
public interface Contender extends AutoCloseable {

    /** The semaphore of a key. */
    Gate gate(String key, int limit) throws Exception;

    @Override
    void close() throws Exception;
}
