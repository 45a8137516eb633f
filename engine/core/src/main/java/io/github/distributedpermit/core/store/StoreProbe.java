package io.github.distributedpermit.core.store;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the store answers again, while calls run without it and while operators see it as not answering: twice a
 * second it takes a permit of a key of its own and returns it, because a store may answer a claim that asks for nothing although
 * it can't grant. So the keys need not do so one by one, and an instance without calls finds the end of the outage as well.
 * Thread-safe. An error may end it, so each event of a key whose calls run without the store makes sure that it goes on.
 */
public final class StoreProbe {

    /** The key that it takes a permit of, for a moment. */
    public static final String KEY = "distributed-permit.outage-probe";

    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

    private final StoreWatch watch;
    private final IntFunction<CompletionStage<Holding>> store;
    private final Scheduler scheduler;
    private final LongSupplier clock;
    private final long commandTimeout;
    private final long pause;
    private final LongConsumer ended;

    private final Object lock = new Object();
    /** The attempt that has no answer yet. Guarded by the lock. */
    private @Nullable Attempt current;

    /** When the next look at the clock is due; the timer has failed if that is long ago. Guarded by the lock. */
    private long due = Long.MIN_VALUE;

    private Scheduler.@Nullable Timer timer;
    private boolean closed;

    /**
     * @param store sends a claim for so many permits of the {@link #KEY}
     * @param clock the time of the process
     * @param ended called with the length of the outage in nanoseconds when it ends, on a thread of the scheduler
     */
    public StoreProbe(
            StoreWatch watch,
            IntFunction<CompletionStage<Holding>> store,
            Scheduler scheduler,
            LongSupplier clock,
            long commandTimeout,
            LongConsumer ended) {
        this.watch = watch;
        this.store = store;
        this.scheduler = scheduler;
        this.clock = clock;
        this.commandTimeout = commandTimeout;
        this.pause = Math.min(LONGEST_PAUSE, commandTimeout / 4);
        this.ended = ended;
    }

    /** Has the store asked until no outage is known. Has no effect while that goes on. */
    public void begin() {
        long now = clock.getAsLong();
        synchronized (lock) {
            if (closed || (due != Long.MIN_VALUE && now - due < 2 * pause)) {
                return;
            }
            due = now;
        }
        look();
    }

    /** The member leaves the store. */
    public void close() {
        synchronized (lock) {
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
        }
    }

    private void look() {
        long now = clock.getAsLong();
        Attempt attempt = null;
        Attempt late = null;
        synchronized (lock) {
            if (closed || !(watch.isBypassed() || watch.isReported())) {
                due = Long.MIN_VALUE;
                current = null;
                return;
            }
            due = now + pause;
            timer = scheduler.schedule(this::look, pause);
            if (current != null && now - current.sentAt >= commandTimeout) {
                late = current;
                current = null;
            }
            if (current == null) {
                attempt = new Attempt(now);
                current = attempt;
            }
        }
        if (late != null) {
            watch.probeFailed(null, late.sentAt, now);
        }
        if (attempt != null) {
            watch.probed(now);
            send(1, attempt);
        }
    }

    /** Asks for so many permits; the second claim of an attempt returns what the first one got. */
    private void send(int wanted, Attempt attempt) {
        CompletionStage<Holding> answer;
        try {
            answer = store.apply(wanted);
        } catch (RuntimeException | Error e) {
            answered(wanted, attempt, e);
            return;
        }
        answer.whenComplete((holding, failure) -> answered(wanted, attempt, failure));
    }

    private void answered(int wanted, Attempt attempt, @Nullable Throwable failure) {
        long now = clock.getAsLong();
        boolean goesOn = wanted > 0 && failure == null;
        synchronized (lock) {
            if (current != attempt) {
                return; // it has timed out
            }
            if (!goesOn) {
                current = null;
            }
        }
        if (goesOn) {
            send(0, attempt);
        } else if (failure == null || !watch.probeFailed(PermitStoreException.causeOf(failure), attempt.sentAt, now)) {
            long lasted = watch.probeAnswered(attempt.sentAt, now);
            if (lasted > 0) {
                // the queues are looked at on another thread than that of the store's client, since there may be many
                scheduler.schedule(() -> ended.accept(lasted), 0);
            }
        }
    }

    private static final class Attempt {

        final long sentAt;

        Attempt(long sentAt) {
            this.sentAt = sentAt;
        }
    }
}
