package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.Future;

/** What a line needs of the process around it. */
interface LineHost {

    /** The monotonic clock in nanoseconds, beginning at 0. */
    long now();

    /** What that clock shows at a time of the ticker the store was given. */
    long time(long tickerNanos);

    /** What is known of the store from the claims of all keys. */
    StoreContact contact();

    /** The next sequence of this member, over all keys. */
    long nextSequence();

    /** When the member's session stops being trustworthy; {@code Long.MAX_VALUE} for a store with leases. */
    long aliveUntil();

    /** How many sessions of this member were lost; a line that has seen fewer still has to lose what it holds. */
    long lostSessions();

    /** Whether nobody else may want permits of the store. */
    boolean isAlone();

    /** Sends a claim; {@link SentClaim#accept} follows, perhaps before this returns. */
    void send(Claim claim, SentClaim sent);

    Scheduler scheduler();

    /** From 0 to 1, for jitter. */
    double jitter();

    /** The store speaks of a key whose line is retired. */
    void granted(String key, Holding holding);

    /** Nobody needs the line any more. */
    void retired(KeyLine line);

    /** While shutting down: the line has nothing in use any more. */
    void progress();

    /** Runs what follows from the end of an asynchronous call. */
    void callback(Runnable task);

    /** Runs the listeners to the loss of one permit, on threads that {@link #callback} cannot occupy. */
    void notice(Runnable task);

    /** A call gives its permit back. */
    void released(Grant grant);

    /** Waits until the store has confirmed a return, at most for the command time-out. */
    void awaitReturn(Future<Void> confirmation);

    /** A grant was lost. */
    void lost(Grant grant);

    /** Permits passed to another call of this process. */
    void handedOver(NameUse use, int permits);

    /** An error cut an event of the line short: the line is to be looked at soon, by another thread. Throws nothing. */
    void trouble(KeyLine line, Throwable cause);
}
