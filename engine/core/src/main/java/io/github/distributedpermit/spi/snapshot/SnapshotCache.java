package io.github.distributedpermit.spi.snapshot;

import org.jspecify.annotations.Nullable;

/**
 * The snapshot of a key that the member read or committed last, and whether a claim may rest on it without a reading. If
 * that turns out wrong the commit fails, and the key is read. Confined to its {@link KeyWorker}.
 *
 * <p>It never affects correctness: every commit compares the key with the snapshot it rests on. It only decides
 * whether the read before a commit can be saved.
 */
final class SnapshotCache<S extends Snapshot> {

    private final SnapshotStore<S> store;
    private final String key;
    /** The key was neither read nor written yet. The store may state what to assume, so that the first claim needs no reading. */
    private boolean unused = true;

    /** No change of another member was seen between the last two claims. */
    private boolean alone = true;
    /** What was read or committed last; {@code null} if it may be out of date. */
    private @Nullable S last;

    SnapshotCache(SnapshotStore<S> store, String key) {
        this.store = store;
        this.key = key;
    }

    /**
     * The snapshot that a claim may rest on without a reading; {@code null} if the key has to be read. The assumption
     * about an unused key is given once. If it was wrong, the attempt reads the key.
     */
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

    /** The key was read. If it still has the version of the last snapshot, the reading was not necessary. */
    void read(S snapshot) {
        S before = last;
        alone = before == null || before.version() == snapshot.version();
    }

    /**
     * A claim was answered from this snapshot. Kept also if other members write to the key: whether a guess on it is
     * worth a commit is decided by {@link SnapshotStore#mayCommitUnread}.
     */
    void learn(S snapshot) {
        last = snapshot;
    }

    /** A guess would probably conflict from now on. The next read that finds no change resets this. */
    void othersHaveWritten() {
        alone = false;
    }

    /** The assumption about an unused key does not return: the member may have a record there. */
    void forget() {
        last = null;
        unused = false;
    }
}
