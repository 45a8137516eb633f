package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;

/**
 * What a store reports unasked to the layer, which passes it on to the core. Thread-safe: may be called by any thread,
 * never blocks, and may run code of the core on the calling thread, so that no lock of the store may be held, except during
 * {@code alive}, which calls nothing back. What code of the core throws is logged, and does not reach the store.
 *
 * <p>{@link SnapshotPermitStore} implements it. A notification of a key that is lost or delayed costs time only,
 * except {@code reduced}. {@code lost} has to follow each end of a session: until then, or until the last {@code
 * alive} is older than the session, calls go on using their permits.
 */
public interface StoreEvents {

    /**
     * There is a session, and claims can be sent; those that wait are sent now. Called for each new session, after
     * the store has confirmed it, and not for a mere reconnection.
     */
    void ready(StoreSession session);

    /**
     * There is no session at present, for this reason. Claims that wait fail, and so does each new one, until
     * {@link #ready}. A store that only needs a moment does not call it: claims wait then, at most until their caller
     * gives up.
     */
    void unavailable(PermitStoreException reason);

    /**
     * As in {@link io.github.distributedpermit.spi.HoldingListener#alive}. The time of sending counts and not that of
     * the answer: the store may have executed the renewal at once, and the session then ends that much earlier.
     *
     * @param sentAtNanos when the confirmed renewal was sent
     */
    void alive(long sentAtNanos);

    /**
     * The session is lost, and all that was recorded for the member with it. Commits that are under way fail. The core is
     * notified.
     */
    void lost();

    /**
     * The session goes on, but the store may have lost state: what members hold was granted in an earlier epoch, and the core
     * has to reclaim it. No {@link #alive} reaches the core before that is done, because a permit that was not reclaimed is
     * free when the grace of the store ends.
     *
     * @param epoch as in {@link Holding#epoch}
     */
    void moved(long epoch);

    /**
     * Another member has served this one. Called after the grant was committed, possibly more than once for the same
     * grant.
     *
     * @param holding what the other one wrote; its sequence is that of the record, or -1 if the store does not record
     *     sequences: such a notice waits until no claim of the key is under way
     */
    void served(String key, Holding holding);

    /** Something about the key has changed, such as a grant whose size the notice does not say: the core claims again. */
    void changed(String key);

    /**
     * Another member has changed the key, so that a commit which rests on a cached snapshot would fail: the next claim reads
     * the key first. The core receives nothing of it.
     */
    void outdated(String key);

    /**
     * Permits of this member were deleted from outside. The calls that hold the missing permits lose them. Without
     * this event the core would rely on them until its next claim is answered.
     *
     * @param left how many it still has
     */
    void reduced(String key, int left);

    /**
     * The key is to be read when its turn comes, because something may be wrong with it. Nothing is written as a
     * rule. If the key has no worker, the event has no effect.
     */
    void check(String key);
}
