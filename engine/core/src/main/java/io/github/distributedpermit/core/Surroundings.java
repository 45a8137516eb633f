package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.PermitObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * Time, chance and threads, all from outside, so that tests drive them.
 *
 * @param ticker the monotonic clock, nanoseconds
 * @param scheduler runs short tasks later
 * @param executor runs users' callbacks
 * @param jitter from 0 to 1
 * @param observer hears what happens to calls
 * @param progress runs while shutting down, when a line has nothing in use any more
 */
record Surroundings(
        LongSupplier ticker,
        Scheduler scheduler,
        Executor executor,
        DoubleSupplier jitter,
        PermitObserver observer,
        Runnable progress) {

    /** Whether anybody hears what happens to calls. */
    boolean isObserved() {
        return observer != PermitObserver.NONE;
    }

    /** Runs a user's callback; on the calling thread if the executor has been shut down or gets no thread. */
    void callback(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            task.run();
        }
    }
}
