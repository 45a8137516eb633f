package io.github.distributedpermit.core;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/** The end of this process's membership: everything goes back before it leaves. Thread-safe. */
final class Departure {

    private static final long PATIENCE_MILLIS = 1_000;

    /** So many lines are looked at whenever one of them has ended; more of them now and then. */
    private static final int FEW = 64;

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(5);

    private final Duration commandTimeout;
    private final Scheduler scheduler;
    private final CompletableFuture<Void> returned = new CompletableFuture<>();
    /** Ends when all that is left belongs to running calls. */
    private final CompletableFuture<Void> idleReturned = new CompletableFuture<>();

    private volatile Runnable look = () -> {};
    private final AtomicBoolean lookingSoon = new AtomicBoolean();
    private boolean begun;
    private boolean lastChance;

    Departure(Duration commandTimeout, Scheduler scheduler) {
        this.commandTimeout = commandTimeout;
        this.scheduler = scheduler;
    }

    CompletableFuture<Void> begin(Lines lines) {
        synchronized (this) {
            if (begun) {
                return returned;
            }
            begun = true;
        }
        lines.close();
        look = () -> lookAgain(lines);
        look(lines);
        return returned;
    }

    /** A line has nothing left, or its last running call has ended. */
    void progress() {
        look.run();
    }

    private void lookAgain(Lines lines) {
        if (lines.size() <= FEW) {
            look(lines);
        } else if (lookingSoon.compareAndSet(false, true)) {
            Runnable soon = () -> {
                lookingSoon.set(false);
                look(lines);
            };
            scheduler.schedule(soon, MOMENT);
        }
    }

    private void look(Lines lines) {
        boolean inUse = false;
        boolean owing = false;
        for (KeyLine line : lines) {
            if (line.isInUse()) {
                inUse = true;
            } else {
                owing = true;
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

    private synchronized void giveLastChance() {
        if (!lastChance) {
            lastChance = true;
            scheduler.schedule(() -> returned.complete(null), commandTimeout.toNanos());
        }
    }

    /** Waits a moment for what idle lines return. */
    void awaitReturns() {
        try {
            idleReturned.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException e) {
            // what the store did not hear of lapses with the lease
        }
    }
}
