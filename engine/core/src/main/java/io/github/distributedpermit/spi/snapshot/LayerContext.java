package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.HoldingListener;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What all keys of a member share. Immutable; the objects it refers to are thread-safe. {@link SnapshotPermitStore}
 * creates it, and every {@link KeyWorker} and {@link CommitAttempt} uses it.
 *
 * @param store the store
 * @param listener the core
 * @param ticker the monotonic clock
 * @param scheduler for pauses
 * @param sessions the session in which claims can be sent now; gives {@code null} if there is none
 */
record LayerContext<S extends Snapshot>(
        SnapshotStore<S> store,
        HoldingListener listener,
        LongSupplier ticker,
        ScheduledExecutorService scheduler,
        Supplier<@Nullable StoreSession> sessions) {

    /** On the monotonic clock, in nanoseconds. */
    long now() {
        return ticker.getAsLong();
    }

    /** Read anew at each step, because the session may be lost between two of them. */
    @Nullable
    StoreSession session() {
        return sessions.get();
    }
}
