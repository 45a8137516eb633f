package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.KeyQueue;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The orderly end of the membership: no new calls, waiting calls rejected, idle permits returned, and then the wait for the
 * calls that still hold permits. Thread-safe. The queues report {@link #progress} and this looks at the whole registry.
 */
public final class Shutdown {

    private static final long PATIENCE_MILLIS = 1_000;

    /** Up to so many queues are looked at whenever one of them has ended; more of them only every few milliseconds. */
    private static final int FEW = 64;

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(5);

    private final Duration commandTimeout;
    private final Scheduler scheduler;
    private final CompletableFuture<Void> returned = new CompletableFuture<>();

    /** Completes when all permits that are left belong to running calls. */
    private final CompletableFuture<Void> idleReturned = new CompletableFuture<>();

    /** Looks at the registry; does nothing before the shutdown begins. */
    private volatile Runnable look = () -> {};

    private final AtomicBoolean lookingSoon = new AtomicBoolean();
    private boolean begun;
    private boolean lastChance;

    public Shutdown(Duration commandTimeout, Scheduler scheduler) {
        this.commandTimeout = commandTimeout;
        this.scheduler = scheduler;
    }

    /** Begins the shutdown. The future completes when nothing is held, or the store has had its time to confirm that. */
    public CompletableFuture<Void> begin(KeyRegistry registry) {
        synchronized (this) {
            if (begun) {
                return returned;
            }
            begun = true;
        }
        registry.close();
        look = () -> lookAgain(registry);
        look(registry);
        return returned;
    }

    /** A queue has been retired, or its last running call has ended. */
    public void progress() {
        look.run();
    }

    /** A look takes as long as there are queues. With many of them, one look for each queue that ends would be too much. */
    private void lookAgain(KeyRegistry registry) {
        if (registry.size() <= FEW) {
            look(registry);
        } else if (lookingSoon.compareAndSet(false, true)) {
            Runnable soon = () -> {
                lookingSoon.set(false);
                look(registry);
            };
            scheduler.schedule(soon, MOMENT);
        }
    }

    private void look(KeyRegistry registry) {
        boolean inUse = registry.storeless().isInUse();
        boolean owing = false;
        for (KeyQueue queue : registry) {
            if (queue.isInUse()) {
                inUse = true;
            } else {
                owing = true; // a queue is dropped as soon as its return is confirmed, so this one still waits for that
            }
            if (inUse && owing) {
                return;
            }
        }
        if (!owing) {
            idleReturned.complete(null);
        }
        if (!inUse && !owing) {
            returned.complete(null);
        } else if (!inUse) {
            giveLastChance();
        }
    }

    /** No call holds a permit any more: the store has one more command time-out to confirm the returns. */
    private synchronized void giveLastChance() {
        if (!lastChance) {
            lastChance = true;
            scheduler.schedule(() -> returned.complete(null), commandTimeout.toNanos());
        }
    }

    /** Waits for the returns of the queues that no call uses, for a second at most. */
    public void awaitReturns() {
        try {
            idleReturned.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException e) {
            // what the store has not received expires with its lease
        }
    }
}
