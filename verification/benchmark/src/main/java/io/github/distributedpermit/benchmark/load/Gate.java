package io.github.distributedpermit.benchmark.load;

import java.util.concurrent.CompletionStage;

/** One key's semaphore as a contender offers it. Thread-safe. */
public interface Gate {

    /** Waits for a permit. What it answers goes back to {@link #leave}. */
    Object enter() throws Exception;

    /** Gives the permit back. */
    void leave(Object pass) throws Exception;

    /** The same without a waiting thread; not every contender can. */
    default CompletionStage<? extends Object> enterLater() {
        throw new UnsupportedOperationException("It has no asynchronous form");
    }

    /** Gives back what {@link #enterLater} has answered, without waiting. */
    default void leaveLater(Object pass) {
        throw new UnsupportedOperationException("It has no asynchronous form");
    }
}
