package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.spi.StackRoom;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * Time, randomness and threads of an engine, all of them passed in, so that tests control them. Thread-safe if its parts are.
 *
 * @param ticker the monotonic clock, nanoseconds
 * @param scheduler runs short tasks later
 * @param continuations runs what users let follow from the end of asynchronous calls
 * @param notices runs users' listeners to the loss of permits
 * @param jitter from 0 to 1
 * @param observers are notified of what happens to calls
 */
public record CoreEnvironment(
        LongSupplier ticker,
        Scheduler scheduler,
        Executor continuations,
        Executor notices,
        DoubleSupplier jitter,
        Observers observers) {

    /** An environment with the randomness of this process; the other parts are as above. */
    public static CoreEnvironment of(
            LongSupplier ticker, Scheduler scheduler, Executor continuations, Executor notices, Observers observers) {
        return new CoreEnvironment(
                ticker,
                scheduler,
                continuations,
                notices,
                () -> ThreadLocalRandom.current().nextDouble(),
                observers);
    }

    /** Runs what follows from the end of an asynchronous call. */
    public void callback(Runnable task) {
        run(continuations, task);
    }

    /** Runs listeners to the loss of a permit. */
    void notice(Runnable task) {
        run(notices, task);
    }

    /** Runs the task on the calling thread if the executor is full, has been shut down or gets no thread. */
    private static void run(Executor executor, Runnable task) {
        StackRoom.check();
        try {
            executor.execute(task);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            task.run();
        }
    }
}
