package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.PermitStoreException;

/**
 * How an attempt to commit a change ended.
 *
 * <p>A {@link SnapshotStore} creates it, and {@link CommitAttempt} is the only class that reads it. Each outcome
 * states whether something was written, because a claim that may have been executed must not be treated as one that
 * was not. The implementations are immutable.
 *
 * @param <S> what the store reads
 */
public sealed interface Commit<S> {

    /**
     * The change was made as planned, and nothing else has changed in between.
     *
     * @param after the key as the change left it
     */
    record Done<S>(S after) implements Commit<S> {}

    /**
     * The change was made, or there was nothing to write, but the store has not checked all of the key, so that others may
     * have changed the rest. The
     * answer is taken from this snapshot, and members that can be served now are served with a further commit.
     *
     * @param after the key, read in the same transaction
     */
    record DoneUnchecked<S>(S after) implements Commit<S> {}

    /**
     * A part of the change was made, or more than the limit allows. No member was notified of what is not to stay.
     * The claim is computed again from this snapshot. A store uses it if a change has more operations than one
     * transaction takes, or if its transaction does not compare the sum of the permits with the limit.
     *
     * @param after the key, read in the same transaction
     * @param held what the next change leaves to the claiming member at most; {@code Integer.MAX_VALUE} for no limit
     */
    record Part<S>(S after, int held) implements Commit<S> {}

    /** Another member has changed the key since the snapshot; nothing was written. The claim is computed again. */
    record Conflict<S>() implements Commit<S> {}

    /**
     * The change may have been made, or may yet be. The claim fails. The store itself makes sure that no change of an
     * earlier commit is made once a later commit of the same member is done; until then its snapshots may change. A
     * time-out, a broken connection and an error of the server during a write all end so. To take them for a failure
     * could grant a permit twice, because the next claim would be computed as if the write had not happened.
     *
     * @param held as for {@link Part}: if the change was made, it may have granted more than the limit allows
     */
    record OutcomeUnknown<S>(PermitStoreException failure, int held) implements Commit<S> {

        /** For a store whose changes never grant more than the limit allows. */
        public OutcomeUnknown(PermitStoreException failure) {
            this(failure, Integer.MAX_VALUE);
        }
    }

    /**
     * The session of the change is lost; the store calls {@link StoreEvents#lost} as well. The claim fails. It is not
     * known whether the change was made before the session ended, so the layer assumes that it may have been.
     */
    record SessionLost<S>(PermitStoreException failure) implements Commit<S> {}

    /** The store refuses the change; nothing was written. The claim fails. */
    record Denied<S>(PermitStoreException failure) implements Commit<S> {}
}
