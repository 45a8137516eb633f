package io.github.distributedpermit.spi.snapshot;

import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;

/**
 * Takes the member out of keys that it no longer uses, many at a time, since a store may delete the nodes of many keys in one
 * transaction. {@link #release()} runs on the scheduler only; what concerns one worker runs in the mailbox of that worker.
 *
 * <p>{@link SnapshotPermitStore} calls it periodically. It asks each {@link KeyWorker} whether the key may go, has
 * the store delete what is left of the member, and removes the workers of the keys that are clean. A worker is not
 * removed before the store has answered: a request that arrives meanwhile would otherwise get a second worker, whose
 * claim could overtake the deletion.
 */
final class IdleKeys<S extends Snapshot> {

    /** Bounds the size of one transaction of the store. */
    private static final int MOST_AT_A_TIME = 100;

    private final ConcurrentMap<String, KeyWorker<S>> workers;
    private final SnapshotStore<S> store;
    /** How long a key has to be unused, in nanoseconds. */
    private final long idle;
    /** Workers that have begun their release. Filled in their mailboxes, which may be run by another thread than the scheduler's. */
    private final Queue<KeyWorker<S>> leaving = new ConcurrentLinkedQueue<>();

    IdleKeys(ConcurrentMap<String, KeyWorker<S>> workers, SnapshotStore<S> store, long idle) {
        this.workers = workers;
        this.store = store;
        this.idle = idle;
    }

    /** Looks at all workers, and releases the keys of those that have been idle for long enough. */
    void release() {
        for (KeyWorker<S> worker : workers.values()) {
            worker.run(() -> {
                // If another thread runs the mailbox, this runs later there, and the worker is in the batch of the
                // next round.
                if (worker.beginRelease(idle)) {
                    leaving.add(worker);
                }
            });
        }
        Map<String, KeyWorker<S>> batch = new HashMap<>();
        for (KeyWorker<S> worker = leaving.poll(); worker != null; worker = leaving.poll()) {
            batch.put(worker.key(), worker);
            if (batch.size() == MOST_AT_A_TIME) {
                release(Map.copyOf(batch));
                batch.clear();
            }
        }
        if (!batch.isEmpty()) {
            release(Map.copyOf(batch));
        }
    }

    /**
     * Each worker of the batch has stopped sending; it goes on, or is removed, when the store has answered. If the
     * store fails, no key counts as clean, so that every worker of the batch goes on and is released again later.
     */
    private void release(Map<String, KeyWorker<S>> batch) {
        CompletionStage<Set<String>> released;
        try {
            released = store.release(batch.keySet());
        } catch (RuntimeException | Error e) { // the workers must not wait for an answer that never comes
            released = CompletableFuture.completedFuture(Set.of());
        }
        released.exceptionally(failure -> Set.of())
                .thenAccept(clean -> batch.values()
                        .forEach(worker -> worker.run(() -> {
                            if (worker.released(clean.contains(worker.key()))) {
                                workers.remove(worker.key(), worker);
                            }
                        })));
    }
}
