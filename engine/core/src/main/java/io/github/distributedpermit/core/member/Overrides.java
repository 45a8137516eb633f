package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Scheduler.Timer;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The operator's limits that this instance has seen in the store. It reports each change, and lifts a limit whose time is over: every
 * instance that has seen it does, so that the one that set it need not live. The end is compared with the clock of the store that
 * {@link KeyState#time} has, so that the clocks of instances may differ; only in a store without a clock they count. Thread-safe.
 */
final class Overrides {

    private static final Logger LOG = System.getLogger(Overrides.class.getName());

    /** Operators override few keys. Of more, the others are reported and ended by instances that see them later. */
    private static final int MOST = 10_000;

    /** After a failure of the store. */
    private static final long AGAIN_MILLIS = 5_000;

    /** So often the time until the next attempt is doubled, if no limit is known that has to end. */
    private static final int MOST_DOUBLINGS = 6;

    private static final Seen NOTHING = new Seen(OverrideLimit.empty(), null, 0);

    private final Map<String, Seen> seen = new HashMap<>();
    private final Scheduler scheduler;
    private final LongSupplier wallClock;
    private final Function<String, CompletionStage<KeyState>> inspect;
    private final BiFunction<String, OverrideLimit, CompletionStage<Void>> lift;
    private final BiConsumer<String, OverrideLimit> changes;
    private boolean closed;

    /**
     * @param wallClock of this instance, in milliseconds since 1970
     * @param inspect reads a key, and calls {@link #note} with the answer
     * @param lift lifts exactly this limit
     * @param changes is notified of each change: the key, and the limit that is set now
     */
    Overrides(
            Scheduler scheduler,
            LongSupplier wallClock,
            Function<String, CompletionStage<KeyState>> inspect,
            BiFunction<String, OverrideLimit, CompletionStage<Void>> lift,
            BiConsumer<String, OverrideLimit> changes) {
        this.scheduler = scheduler;
        this.wallClock = wallClock;
        this.inspect = inspect;
        this.lift = lift;
        this.changes = changes;
    }

    /** What was seen last, the timer of the next look if one is due, and how often the store has failed since. */
    private record Seen(OverrideLimit limit, @Nullable Timer timer, int failures) {}

    /** The clock that the times of a limit are on, in milliseconds since 1970. */
    long now(KeyState state) {
        return state.time().map(Instant::toEpochMilli).orElseGet(wallClock::getAsLong);
    }

    /** The store has answered with the state of a key. */
    void note(KeyState state) {
        OverrideLimit limit = state.override();
        long left = limit.until() == 0 ? Long.MAX_VALUE : limit.until() - now(state);
        if (isNews(state.key(), limit, left)) {
            report(state.key(), limit);
            changes.accept(state.key(), limit);
        }
        if (left <= 0) {
            end(state.key(), limit);
        }
    }

    private synchronized boolean isNews(String key, OverrideLimit limit, long left) {
        Seen before = seen.getOrDefault(key, NOTHING);
        boolean news = !before.limit().equals(limit);
        boolean ends = left > 0 && left < Long.MAX_VALUE;
        if (closed || isOneTooMany(key) || (!news && ends && before.timer() != null)) {
            return false;
        }
        forget(key);
        if (limit.isPresent()) {
            // Also for a known limit: a timer may run before the end, since it is not on the clock of the store.
            seen.put(key, new Seen(limit, ends ? timer(key, left + 1) : null, 0));
        }
        return news;
    }

    private boolean isOneTooMany(String key) {
        return seen.size() >= MOST && !seen.containsKey(key);
    }

    private Timer timer(String key, long millis) {
        return scheduler.schedule(
                () -> {
                    timerHasRun(key);
                    look(key);
                },
                TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private synchronized void timerHasRun(String key) {
        seen.computeIfPresent(key, (same, known) -> new Seen(known.limit(), null, known.failures()));
    }

    private void forget(String key) {
        Seen before = seen.remove(key);
        if (before != null && before.timer() != null) {
            before.timer().cancel();
        }
    }

    /** Reads the key: its limit has changed, or has to end. */
    void look(String key) {
        failing(key, () -> inspect.apply(key));
    }

    private void end(String key, OverrideLimit limit) {
        failing(key, () -> lift.apply(key, limit).thenRun(() -> look(key)));
    }

    private void failing(String key, Supplier<CompletionStage<?>> question) {
        try {
            question.get().whenComplete((answer, failure) -> {
                if (failure != null) {
                    lookAgain(key);
                }
            });
        } catch (RuntimeException e) {
            lookAgain(key);
        }
    }

    /** Without another attempt this instance might never learn of a limit that has to end: no later answer shows a change. */
    private synchronized void lookAgain(String key) {
        if (closed || isOneTooMany(key)) {
            return;
        }
        Seen known = seen.getOrDefault(key, NOTHING);
        int doublings = known.limit().until() == 0 ? Math.min(known.failures(), MOST_DOUBLINGS) : 0;
        forget(key);
        seen.put(key, new Seen(known.limit(), timer(key, AGAIN_MILLIS << doublings), known.failures() + 1));
    }

    /** One line for each change, on each instance that sees it. */
    private static void report(String key, OverrideLimit limit) {
        Optional<String> paused = Pause.describe(key);
        if (paused.isPresent()) {
            LOG.log(
                    Level.INFO,
                    limit.isEmpty()
                            ? "The pause of {0} has ended, or was lost with the data of the store."
                            : "All calls of {0} are paused, set {1} at {2}, until {3}{4}. Running calls go on.",
                    LogSafe.escape(paused.get()),
                    by(limit),
                    at(limit),
                    until(limit),
                    because(limit));
        } else if (limit.isEmpty()) {
            LOG.log(
                    Level.INFO,
                    "The operator''s limit of key ''{0}'' is lifted: the limit that each instance states applies again.",
                    LogSafe.escape(key));
        } else {
            LOG.log(
                    Level.INFO,
                    "The limit of key ''{0}'' is {1}{2} for all instances now, set {3} at {4}, until {5}{6}.",
                    LogSafe.escape(key),
                    Integer.toString(limit.limit()),
                    limit.limit() == 0 ? " (a pause)" : "",
                    by(limit),
                    at(limit),
                    until(limit),
                    because(limit));
        }
    }

    private static String by(OverrideLimit limit) {
        return limit.by().isEmpty() ? "by an operator" : LogSafe.escape(limit.by());
    }

    private static String at(OverrideLimit limit) {
        return limit.setAt().map(Instant::toString).orElse("an unknown time");
    }

    private static String until(OverrideLimit limit) {
        return limit.endsAt().map(Instant::toString).orElse("it is lifted");
    }

    private static String because(OverrideLimit limit) {
        return limit.reason().isEmpty() ? "" : ", because: " + LogSafe.escape(limit.reason());
    }

    synchronized void close() {
        closed = true;
        seen.values().forEach(each -> {
            if (each.timer() != null) {
                each.timer().cancel();
            }
        });
        seen.clear();
    }
}
