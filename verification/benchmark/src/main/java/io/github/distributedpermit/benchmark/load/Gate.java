package io.github.distributedpermit.benchmark.load;

/** One key's semaphore as a contender offers it. Thread-safe. */
public interface Gate {

    /** Waits for a permit. What it answers goes back to {@link #leave}. */
    Object enter() throws Exception;

    /** Gives the permit back. */
    void leave(Object pass) throws Exception;
}
