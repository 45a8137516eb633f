package io.github.distributedpermit.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** See {@link TimeSource#SYSTEM}. */
final class SystemTime implements TimeSource {

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Runnable schedule(Runnable task, long delayNanos) {
        AtomicBoolean taken = new AtomicBoolean();
        // Not on the common pool: calls that wait for a permit may occupy all of its threads.
        CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> {
                    if (taken.compareAndSet(false, true)) {
                        task.run();
                    }
                });
        return () -> taken.set(true);
    }
}
