package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.core.key.LastingOutage;
import io.github.distributedpermit.core.key.StoreContact;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the store answers again, while calls run without it and while operators see it as not answering: twice a
 * second it takes a permit of a key of its own and returns it, because a store may answer a claim that asks for nothing although
 * it can't grant. So the keys need not do so one by one, and an instance without calls finds the end of the outage as well.
 * Thread-safe. An error may end it, so each call that runs without the store makes sure that it goes on.
 */
final class OutageProbe {

    /** The key that it takes a permit of, for a moment. */
    private static final String KEY = "distributed-permit.outage-probe";

    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

    private final KeyQueueHost host;
    private final StoreReports reports;
    private final Function<Claim, CompletionStage<Holding>> store;
    private final int limit;
    private final Duration lease;
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
     * @param store sends a claim
     * @param limit the highest limit of a key of this store
     * @param ended called with the length of the outage in nanoseconds when it ends, on a thread of the scheduler
     */
    OutageProbe(
            KeyQueueHost host,
            Function<Claim, CompletionStage<Holding>> store,
            int limit,
            CoreSettings settings,
            LongConsumer ended) {
        this.host = host;
        this.reports = new StoreReports(host);
        this.store = store;
        this.limit = limit;
        this.lease = settings.lease();
        this.commandTimeout = settings.commandTimeout().toNanos();
        this.pause = Math.min(LONGEST_PAUSE, commandTimeout / 4);
        this.ended = ended;
    }

    /** Has the store asked until no outage is known. Has no effect while that goes on. */
    void begin() {
        long now = host.now();
        synchronized (lock) {
            if (closed || (due != Long.MIN_VALUE && now - due < 2 * pause)) {
                return;
            }
            due = now;
        }
        look();
    }

    private boolean isNeeded() {
        StoreContact contact = host.contact();
        return contact.lasting().isOn() || contact.reported().isReported();
    }

    /** The member leaves the store. */
    void close() {
        synchronized (lock) {
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
        }
    }

    private void look() {
        long now = host.now();
        Attempt attempt = null;
        Attempt late = null;
        synchronized (lock) {
            if (closed || !isNeeded()) {
                due = Long.MIN_VALUE;
                current = null;
                return;
            }
            due = now + pause;
            timer = host.scheduler().schedule(this::look, pause);
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
            if (host.contact().lasting().isOn()) {
                reports.unanswered(late.sentAt, now);
            }
            host.contact().lasting().failed();
        }
        if (attempt != null) {
            if (host.contact().lasting().isOn()) {
                reports.asked(now);
            }
            send(1, attempt);
        }
    }

    /** Asks for so many permits; the second claim of an attempt returns what the first one got. */
    private void send(int wanted, Attempt attempt) {
        CompletionStage<Holding> answer;
        try {
            answer = store.apply(
                    new Claim(KEY, limit, host.nextSequence(), wanted, wanted, 0, Duration.ZERO, lease, false));
        } catch (RuntimeException | Error e) {
            answered(wanted, attempt, e);
            return;
        }
        answer.whenComplete((holding, failure) -> answered(wanted, attempt, failure));
    }

    private void answered(int wanted, Attempt attempt, @Nullable Throwable failure) {
        long now = host.now();
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
        } else if (failure == null || !failed(failure, attempt, now)) {
            succeed(attempt, now);
        }
    }

    /**
     * Calls that do not run without the store are not affected by failures of probes: they fail at once only if claims of calls
     * have failed lately.
     */
    private boolean failed(Throwable failure, Attempt attempt, long now) {
        LastingOutage lasting = host.contact().lasting();
        boolean failed = lasting.isOn()
                ? reports.failed(failure, attempt.sentAt, now)
                : !StoreReports.isRefusal(StoreLog.cause(failure));
        if (failed) {
            lasting.failed();
        }
        return failed;
    }

    private void succeed(Attempt attempt, long now) {
        reports.answered(now);
        long lasted = host.contact().lasting().length(now);
        if (host.contact().lasting().answered(attempt.sentAt, now)) {
            // the queues are looked at on another thread than that of the store's client, since there may be many
            host.scheduler().schedule(() -> ended.accept(lasted), 0);
        }
    }

    private static final class Attempt {

        final long sentAt;

        Attempt(long sentAt) {
            this.sentAt = sentAt;
        }
    }
}
