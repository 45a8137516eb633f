package io.github.distributedpermit.spi.snapshot;

import org.jspecify.annotations.Nullable;

/**
 * The snapshot of a key that the member read or committed last, and whether a claim may rest on it without a reading. If
 * that turns out wrong the commit fails, and the key is read. Confined to its {@link KeyWorker}.
 */
final class SnapshotCache<S extends Snapshot> {

    private final SnapshotStore<S> store;
    private final String key;
    /** Neither read nor written yet: the store may say what to assume, and one write will do. */
    private boolean unused = true;

    /** No change of another member was seen between the last two claims. */
    private boolean alone = true;
    /** What was read or committed last; {@code null} if it may be out of date. */
    private @Nullable S last;

    SnapshotCache(SnapshotStore<S> store, String key) {
        this.store = store;
        this.key = key;
    }

    /** What a claim may try its luck with; {@code null} if it has to read. */
    @Nullable
    S guess() {
        if (unused) {
            unused = false;
            return store.assumedUnused(key);
        }
        return last;
    }

    /** Whether no change of another member was seen between the last two claims. */
    boolean isAlone() {
        return alone;
    }

    /** What was last read or committed; {@code null} if it may be out of date. */
    @Nullable
    S last() {
        return last;
    }

    /** A claim before this one would have done without the reading if no other member had written. */
    void read(S snapshot) {
        S before = last;
        alone = before == null || before.version() == snapshot.version();
    }

    /** A claim was answered from this snapshot. */
    void learn(S snapshot) {
        last = snapshot;
    }

    void othersHaveWritten() {
        alone = false;
    }

    void forget() {
        last = null;
        unused = false;
    }
}
