package io.github.distributedpermit.backend.redis;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Ends the pauses of the {@link ConnectionManager}'s thread when there is something to do. Any thread may signal; one thread
 * waits.
 *
 * <p>There are two kinds of pause: between two checks, and after a failed attempt.
 */
final class WorkSignal {

    /** A permit for each signal. A signal that comes while the thread works is thereby not lost. */
    private final Semaphore signals = new Semaphore(0);

    /** Stays set until the next pause after a failed attempt, which it ends. */
    private volatile boolean retryAtOnce;

    private volatile boolean closed;

    /** A connection may have been lost: ends {@link #awaitWork}. */
    void checkConnections() {
        signals.release();
    }

    /** Another server may have become the master: ends both kinds of pause. */
    void retryAtOnce() {
        retryAtOnce = true;
        signals.release();
    }

    /** The member leaves: both kinds of pause throw from now on. */
    void close() {
        closed = true;
        signals.release();
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Waits for a signal, for this time at most. All signals so far are taken together, because one check covers all
     * of them.
     */
    void awaitWork(long millis) throws InterruptedException {
        boolean unused = signals.tryAcquire(millis, TimeUnit.MILLISECONDS);
        signals.drainPermits();
        throwIfClosed();
    }

    /**
     * Waits for this time. A lost connection does not end the pause, because a failed attempt may have lost it.
     * Otherwise a server that closes each connection would be asked in a hot loop.
     */
    void pauseBeforeRetry(long millis) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - System.nanoTime(); left > 0 && !retryAtOnce; left = end - System.nanoTime()) {
            boolean unused = signals.tryAcquire(left, TimeUnit.NANOSECONDS);
            throwIfClosed();
        }
        retryAtOnce = false;
    }

    /** The exception ends the loop of the thread, as an interrupt does. */
    private void throwIfClosed() throws InterruptedException {
        if (closed) {
            throw new InterruptedException();
        }
    }
}
