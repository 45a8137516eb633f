package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitGroup;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Goes on after the end of an acquisition: on the caller's thread if that has come already, else in the context that was
 * captured before the wait. Runs exactly once, also if what restores the context fails, since permits would be lost
 * otherwise. Thread-safe.
 */
final class Continuation implements Runnable {

    private final BiConsumer<@Nullable PermitGroup, @Nullable Throwable> then;
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile @Nullable PermitGroup permits;
    private volatile @Nullable Throwable failure;

    private Continuation(BiConsumer<@Nullable PermitGroup, @Nullable Throwable> then) {
        this.then = then;
    }

    /** Calls {@code then} with the permits or the failure. If the context cannot be captured, that is the failure. */
    static void follow(
            Acquisition acquisition,
            BiConsumer<@Nullable PermitBundle, @Nullable Throwable> then,
            ContextCapture contexts,
            @Nullable Object context) {
        CompletableFuture<PermitGroup> taking = acquisition.permits();
        BiConsumer<@Nullable PermitGroup, @Nullable Throwable> decided =
                (group, failure) -> decide(acquisition, group, failure, then);
        if (taking.isDone()) {
            taking.whenComplete(decided);
            return;
        }
        Continuation continuation = new Continuation(decided);
        Runnable captured;
        try {
            captured = contexts.capture(continuation, context);
        } catch (RuntimeException | Error e) {
            taking.whenComplete((permits, failure) -> release(permits));
            taking.cancel(false);
            then.accept(null, e);
            return;
        }
        taking.whenComplete((permits, failure) -> continuation.run(captured, permits, failure));
    }

    private static void decide(
            Acquisition acquisition,
            @Nullable PermitGroup taken,
            @Nullable Throwable failure,
            BiConsumer<@Nullable PermitBundle, @Nullable Throwable> then) {
        PermitBundle held;
        try {
            held = taken == null ? null : acquisition.held().apply(taken);
        } catch (RuntimeException | Error e) {
            then.accept(null, e);
            return;
        }
        then.accept(held, failure);
    }

    private void run(Runnable captured, @Nullable PermitGroup taken, @Nullable Throwable error) {
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

    private static void release(@Nullable PermitGroup permits) {
        if (permits != null) {
            new PermitBundle(permits.permits()).release();
        }
    }
}
