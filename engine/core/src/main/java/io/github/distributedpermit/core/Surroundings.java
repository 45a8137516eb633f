package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * Time, chance and threads, all from outside, so that tests drive them.
 *
 * @param ticker the monotonic clock, nanoseconds
 * @param scheduler runs short tasks later
 * @param continuations runs what users let follow from the end of asynchronous calls
 * @param notices runs users' listeners to the loss of permits
 * @param jitter from 0 to 1
 * @param observer hears what happens to calls
 */
record Surroundings(
        LongSupplier ticker,
        Scheduler scheduler,
        Executor continuations,
        Executor notices,
        DoubleSupplier jitter,
        PermitObserver observer) {

    /** Whether anybody hears what happens to calls. */
    boolean isObserved() {
        return observer != PermitObserver.NONE;
    }

    /** Runs what follows from the end of an asynchronous call. */
    void callback(Runnable task) {
        run(continuations, task);
    }

    /** Runs listeners to the loss of a permit. */
    void notice(Runnable task) {
        run(notices, task);
    }

    /** On the calling thread if the executor takes nothing more, has been shut down or gets no thread. */
    private static void run(Executor executor, Runnable task) {
        StackRoom.check();
        try {
            executor.execute(task);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            task.run();
        }
    }
}
