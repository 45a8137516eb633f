package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.Admission;
import io.github.distributedpermit.core.key.KeyQueue;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The orderly end of the membership: waiting calls rejected, idle permits returned, and then the wait for the calls that
 * still hold permits. Thread-safe. The queues report {@link #progress} and this looks at the whole registry.
 *
 * <p>Calls may get free permits until the member leaves, so that nothing may be held at one time and something later. Each
 * wait therefore begins with a look of its own.
 */
public final class Shutdown {

    private static final long PATIENCE_MILLIS = 1_000;

    /** Up to so many queues are looked at whenever one of them has ended; more of them only every few milliseconds. */
    private static final int FEW = 64;

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(5);

    private static final Logger LOG = System.getLogger(Shutdown.class.getName());

    private final Duration commandTimeout;
    private final Scheduler scheduler;

    /** What the calls did when fewer of them were admitted, since the last line about that. Guarded by this. */
    private int waited;

    private int held;

    /** Completes when no permit is held, or the store has had its time to confirm that. Replaced by the next wait then. */
    private CompletableFuture<Void> returned = new CompletableFuture<>();

    /** Completes when all permits that are left belong to running calls. Replaced by each {@link #awaitReturns}. */
    private CompletableFuture<Void> idleReturned = new CompletableFuture<>();

    /** Looks at the registry; does nothing before the shutdown begins. */
    private volatile Runnable look = () -> {};

    private final AtomicBoolean lookingSoon = new AtomicBoolean();

    /** The wait that ends after a command time-out, since no call holds a permit; {@code null} if there is none. */
    private @Nullable CompletableFuture<Void> ending;

    public Shutdown(Duration commandTimeout, Scheduler scheduler) {
        this.commandTimeout = commandTimeout;
        this.scheduler = scheduler;
    }

    /**
     * Begins the shutdown, or goes on with fewer calls.
     *
     * @param admission the calls that are still served
     * @return completes when nothing is held, or the store has had its time to confirm that
     */
    public CompletableFuture<Void> begin(KeyRegistry registry, Admission admission) {
        int waiting = 0;
        int inUse = 0;
        for (KeyQueue queue : registry) {
            waiting += queue.waiting();
            inUse += queue.inUse();
        }
        registry.admit(admission);
        CompletableFuture<Void> wait;
        synchronized (this) {
            waited = Math.max(waited, waiting);
            held = Math.max(held, inUse);
            if (returned.isDone()) {
                returned = new CompletableFuture<>();
            }
            wait = returned;
        }
        look = () -> lookAgain(registry);
        look(registry);
        return wait;
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
        CompletableFuture<Void> idle;
        CompletableFuture<Void> all;
        synchronized (this) { // before the look, so that it ends no wait that has begun after it
            idle = idleReturned;
            all = returned;
        }
        boolean inUse = registry.unlimitedGrants().isInUse();
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
            idle.complete(null);
        }
        if (!inUse && !owing) {
            all.complete(null);
        } else if (!inUse) {
            giveLastChance(all, registry);
        }
    }

    /** No call holds a permit any more: the store has one more command time-out to confirm the returns. */
    private void giveLastChance(CompletableFuture<Void> wait, KeyRegistry registry) {
        synchronized (this) {
            if (ending == wait) {
                return;
            }
            ending = wait;
        }
        scheduler.schedule(() -> endUnlessInUse(wait, registry), commandTimeout.toNanos());
    }

    /** A call may have got a free permit since. Its end gives the store another command time-out. */
    private void endUnlessInUse(CompletableFuture<Void> wait, KeyRegistry registry) {
        if (registry.isInUse()) {
            synchronized (this) {
                ending = null;
            }
            look(registry); // in case that call has just ended
        } else {
            wait.complete(null);
        }
    }

    /** Logs what became of the calls, if there were any. */
    private synchronized void report(KeyRegistry registry) {
        int left = 0;
        for (KeyQueue queue : registry) {
            left += queue.inUse();
        }
        if (waited + held + left > 0) {
            LOG.log(
                    left == 0 ? Level.INFO : Level.WARNING,
                    "This instance leaves the store of permits. When its shutdown began, {0} call(s) waited or asked, and"
                            + " calls held {1} permit(s). {2}",
                    Integer.toString(waited),
                    Integer.toString(held),
                    left == 0
                            ? "These calls have ended."
                            : left
                                    + " permit(s) are still in use: other calls get them when their lease ends, although the calls may"
                                    + " go on. Give spring.lifecycle.timeout-per-shutdown-phase the time of the longest call.");
        }
        waited = 0;
        held = 0;
    }

    /** Waits for the returns of the queues that no call uses, for a second at most. */
    public void awaitReturns(KeyRegistry registry) {
        report(registry);
        CompletableFuture<Void> wait = new CompletableFuture<>();
        synchronized (this) {
            idleReturned = wait;
        }
        look(registry);
        try {
            wait.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException e) {
            // what the store has not received expires with its lease
        }
    }
}
