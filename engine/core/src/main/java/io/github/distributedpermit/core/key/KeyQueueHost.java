package io.github.distributedpermit.core.key;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Times;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Claim;
import java.util.List;
import java.util.concurrent.Future;

/**
 * What the queue of a key needs of the process around it: the clock, the store, the session, threads and the observer.
 * Implemented by {@code KeyRegistry}, and by tests. All methods are thread-safe; those that {@linkplain Effects} calls run
 * without the lock of any queue.
 */
public interface KeyQueueHost {

    /** The monotonic clock in nanoseconds, which begins at 0. */
    long now();

    /** What that clock shows at a time of the ticker that the store uses. */
    long time(long tickerNanos);

    /** What is known of the store. */
    StoreWatch watch();

    /** The next sequence of this member, over all keys. */
    long nextSequence();

    /** Until when the member's session is certain to live; {@link Times#NEVER} for a store with leases. */
    long aliveUntil();

    /** How many sessions of this member were lost. A queue that has seen fewer still has to give up what it holds. */
    long lostSessions();

    /** Whether this member is the only one of the store, so that no other member can want permits. */
    boolean isAlone();

    /**
     * An answer has shown the limit in effect. An answer to a claim that states the known limit itself does not show whether it still
     * is the operator's, so it changes nothing: until another answer shows that it is lifted, an outage is bridged with it.
     *
     * @param stated the limit that the claim stated
     * @return whether another limit was known before: then {@link #limitChanged} is to be called without the lock
     */
    boolean noteLimit(String key, int limit, int stated);

    /** An operator may have set another limit, or lifted it. */
    void limitChanged(String key);

    /** The operator's limit of a key as far as it is known, also if the key was not in use for a while; otherwise this one. */
    int limitInForce(String key, int own);

    /** A claim has shown that the store has lost state, so that all keys in use have to be reclaimed. */
    void stateLost();

    /**
     * Reports that the store grants nothing new of this key for a while, because it may have lost state.
     *
     * @param moved whether another server answers, or the same one after a restart or when it was emptied; otherwise the store lacks the key
     * @param lasts how long at most, nanoseconds
     */
    void graceBegins(String key, boolean moved, long lasts);

    /**
     * Sends a claim; {@link SentClaim#accept} follows, perhaps before this method returns, unless it throws. After an error of the
     * virtual machine the same claim is sent once more, because it may not have left.
     */
    void send(Claim claim, SentClaim sent);

    /**
     * How often settings of names, or {@linkplain #pause pauses}, have changed. A queue that has seen fewer changes applies them in its
     * next event, for which {@link KeyQueue#check} follows.
     */
    long changes();

    /** Which calls the queue serves: as of its next event, for which {@link KeyQueue#check} follows after a change. */
    Admission admission();

    /** Whether an operator has paused all calls of the name. */
    PauseState pause(PermitName permit);

    /** Finds out whether an operator has paused all calls of the name, since one of them is held back until that is known. */
    void findPause(PermitName permit);

    /** Grants permits that the store does not record. */
    UnlimitedGrants unlimitedGrants();

    /** This member's share of the limit of a key while the store does not answer; 0 if it has none or does not know. */
    int localShare(String key, int limit);

    /** A call of this name runs without the store, as this was stated for it. */
    void ranWithoutStore(PermitName permit, OnStoreFailure how, int share, int limit);

    /** Runs short tasks later. */
    Scheduler scheduler();

    /** A random number from 0 to 1, for jitter. */
    double jitter();

    /** During a shutdown, a queue has no permit in use any more. */
    void progress();

    /** Runs what users have registered for the end of an asynchronous call. */
    void callback(Runnable task);

    /** Runs the listeners to the loss of a permit, on threads that {@link #callback} cannot occupy. */
    void notice(Runnable task);

    /** Notifies the observer that a call has returned its permit. */
    void released(Grant grant);

    /** Waits until the store has confirmed a return, for the command time-out at most. */
    void awaitReturn(Future<Void> confirmation);

    /** Notifies the observer that a grant was lost. */
    void lost(Grant grant);

    /** Logs the losses of one event of the key; each was passed to {@link #lost} before. */
    void logLosses(List<Grant> grants);

    /** Whether there is an observer that is to be notified of the end of each claim. */
    boolean isObserved();

    /** Notifies the observer that a claim ended, which was sent so many nanoseconds ago. */
    void claimed(boolean answered, long took);
}
