package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.ReadableNames;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.List;
import java.util.Optional;
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
 * @param names of members, for operators
 * @param sessions the session in which claims can be sent now; gives {@code null} if there is none
 */
record LayerContext<S extends Snapshot>(
        SnapshotStore<S> store,
        HoldingListener listener,
        LongSupplier ticker,
        ScheduledExecutorService scheduler,
        ReadableNames names,
        Supplier<@Nullable StoreSession> sessions) {

    /** On the monotonic clock, in nanoseconds. */
    long now() {
        return ticker.getAsLong();
    }

    /**
     * Reports the members whose permits a committed change has freed because they are not alive any more. Not an earlier session of this
     * process: its calls have lost their permits, and the core has reported that.
     */
    void reportExpired(PlannedCommit<S> committed) {
        S before = committed.before();
        String self = before.process(committed.member());
        List<PermitRecord> freed = committed.step().removed().stream()
                .flatMap(member -> before.record(member).stream())
                .filter(record ->
                        record.permits() > 0 && !before.process(record.member()).equals(self))
                .toList();
        if (!freed.isEmpty()) {
            PermitRecord first = freed.get(0);
            int others = freed.stream().skip(1).mapToInt(PermitRecord::permits).sum();
            names.of(first.member())
                    .thenAccept(name -> listener.expired(
                            committed.key(),
                            new Expired(
                                    before.process(first.member()),
                                    name,
                                    first.permits(),
                                    Optional.empty(),
                                    freed.size() - 1,
                                    others)));
        }
    }

    /** Read anew at each step, because the session may be lost between two of them. */
    @Nullable
    StoreSession session() {
        return sessions.get();
    }
}
