package io.github.distributedpermit.aop.async;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Goes on after the end of an acquisition: on the caller's thread if that has come already, else in the context that was
 * captured before the wait. Runs exactly once, also if what restores the context fails, since permits would be lost
 * otherwise. Thread-safe.
 */
final class Continuation implements Runnable {

    private final BiConsumer<@Nullable PermitBundle, @Nullable Throwable> then;
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile @Nullable PermitBundle permits;
    private volatile @Nullable Throwable failure;

    private Continuation(BiConsumer<@Nullable PermitBundle, @Nullable Throwable> then) {
        this.then = then;
    }

    /** Calls {@code then} with the permits or the failure. If the context cannot be captured, that is the failure. */
    static void follow(
            Acquisition acquisition,
            BiConsumer<@Nullable PermitBundle, @Nullable Throwable> then,
            ContextCapture contexts,
            @Nullable Object context) {
        if (acquisition.isDone()) {
            acquisition.whenComplete(then);
            return;
        }
        Continuation continuation = new Continuation(then);
        Runnable captured;
        try {
            captured = contexts.capture(continuation, context);
        } catch (RuntimeException | Error e) {
            acquisition.whenComplete((permits, failure) -> release(permits));
            acquisition.cancel(false);
            then.accept(null, e);
            return;
        }
        acquisition.whenComplete((permits, failure) -> continuation.run(captured, permits, failure));
    }

    private void run(Runnable captured, @Nullable PermitBundle taken, @Nullable Throwable error) {
        permits = taken;
        failure = error;
        try {
            captured.run();
        } catch (RuntimeException | Error e) {
            if (begun.compareAndSet(false, true)) {
                release(taken);
                then.accept(null, e);
            }
            return;
        }
        run();
    }

    @Override
    public void run() {
        if (begun.compareAndSet(false, true)) {
            then.accept(permits, failure);
        }
    }

    private static void release(@Nullable PermitBundle permits) {
        if (permits != null) {
            permits.release();
        }
    }
}
