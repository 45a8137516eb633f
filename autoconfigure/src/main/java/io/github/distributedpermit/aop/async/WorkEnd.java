package io.github.distributedpermit.aop.async;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Observes the end of a future. A stage notifies by itself. A plain {@link Future} can't, so it is looked at again after
 * pauses that double from 1 to 64 ms, on the JDK's thread for delayed executions; no thread waits for it.
 */
final class WorkEnd {

    private static final int LONGEST_PAUSE = 64;

    private WorkEnd() {}

    /** Calls {@code then} once, with the value or the error. A value that is no future has ended. */
    static void observe(@Nullable Object returned, BiConsumer<@Nullable Object, @Nullable Throwable> then) {
        if (returned instanceof CompletionStage<?> stage) {
            stage.whenComplete(then);
        } else if (returned instanceof Future<?> future) {
            poll(future, then, 1);
        } else {
            then.accept(returned, null);
        }
    }

    private static void poll(Future<?> future, BiConsumer<@Nullable Object, @Nullable Throwable> then, int pause) {
        boolean done;
        try {
            done = future.isDone();
        } catch (RuntimeException | Error e) {
            then.accept(null, e); // nothing would look at it again, and the permit would never be released
            return;
        }
        if (done) {
            end(future, then);
            return;
        }
        Executor later = CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS, Runnable::run);
        later.execute(() -> poll(future, then, Math.min(LONGEST_PAUSE, pause * 2)));
    }

    private static void end(Future<?> done, BiConsumer<@Nullable Object, @Nullable Throwable> then) {
        Object value = null;
        Throwable error = null;
        try {
            value = done.get();
        } catch (ExecutionException e) {
            error = e.getCause() == null ? e : e.getCause();
        } catch (CancellationException e) {
            error = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            error = e;
        } catch (RuntimeException | Error e) {
            error = e; // a future of the application may throw anything; the permit is released all the same
        }
        then.accept(value, error);
    }
}
