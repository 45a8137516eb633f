package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Scheduler.Timer;
import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The operator's limits that this instance knows of, from answers to claims and from reading keys. A limit is kept also while its key is
 * not in use, so that calls without the store obey it: a paused key stays paused. It reports each change, and lifts a limit whose time is over: every
 * instance that has seen it does, so that the one that set it need not live. The end is compared with the clock of the store that
 * {@link KeyState#time} has, so that the clocks of instances may differ; only in a store without a clock they count.
 *
 * <p>Thread-safe. Its lock is held for a few assignments and the setting of a timer, also under the lock of a queue, and never while
 * calling the store or a queue.
 */
final class Overrides {

    private static final Logger LOG = System.getLogger(Overrides.class.getName());

    /** Operators override few keys. Of more, the others are not known without the store, and end by instances that see them later. */
    private static final int MOST = 10_000;

    /** After a failure of the store. */
    private static final long AGAIN_MILLIS = 5_000;

    /** So often the time until the next attempt is doubled, if no limit is known that has to end. */
    private static final int MOST_DOUBLINGS = 6;

    private static final Known NOTHING = new Known(null, OverrideLimit.empty(), null, 0);

    /** Read without the lock. */
    private final ConcurrentMap<String, Known> known = new ConcurrentHashMap<>();

    /** Whether anything was ever known: without that an answer costs one volatile read. */
    private volatile boolean any;

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

    /**
     * What is known of one key.
     *
     * @param inForce the limit of calls without the store; {@code null} if the last answer has shown none
     * @param reported what was read last
     * @param timer of the next look; {@code null} if none is due
     * @param failures how often the store has failed since
     */
    private record Known(
            @Nullable Integer inForce,
            OverrideLimit reported,
            @Nullable Timer timer,
            int failures) {}

    private Known get(String key) {
        return known.getOrDefault(key, NOTHING);
    }

    private void put(String key, Known value) {
        if (value.equals(NOTHING)) {
            known.remove(key);
        } else {
            any = true;
            known.put(key, value);
        }
    }

    /** See {@link KeyQueueHost#noteLimit}. */
    boolean noteLimit(String key, int limit, int stated) {
        if (limit == stated && !any) {
            return false;
        }
        Integer before = get(key).inForce();
        boolean same = limit == stated ? before == null || before == limit : before != null && before == limit;
        return !same && changeInForce(key, limit == stated ? null : limit);
    }

    private synchronized boolean changeInForce(String key, @Nullable Integer limit) {
        Known before = get(key);
        if (closed || isOneTooMany(key) || Objects.equals(before.inForce(), limit)) {
            return false;
        }
        put(key, new Known(limit, before.reported(), before.timer(), before.failures()));
        return true;
    }

    /** The operator's limit as far as it is known, otherwise this one. */
    int inForce(String key, int own) {
        Integer limit = any ? get(key).inForce() : null;
        return limit == null ? own : limit;
    }

    /** The clock that the times of a limit are on, in milliseconds since 1970. */
    long now(KeyState state) {
        return state.time().map(Instant::toEpochMilli).orElseGet(wallClock::getAsLong);
    }

    /** The store has answered with the state of a key. */
    void note(KeyState state) {
        OverrideLimit limit = state.override();
        long left = limit.until() == 0 ? Long.MAX_VALUE : limit.until() - now(state);
        OverrideLimit before = keep(state.key(), limit, left);
        if (before != null) {
            report(state.key(), before, limit);
            changes.accept(state.key(), limit);
        }
        if (left <= 0) {
            end(state.key(), limit);
        }
    }

    /** What was reported before, if this is news. */
    private synchronized @Nullable OverrideLimit keep(String key, OverrideLimit limit, long left) {
        if (closed || isOneTooMany(key)) {
            return null;
        }
        Known before = get(key);
        boolean news = !before.reported().equals(limit);
        boolean ends = left > 0 && left < Long.MAX_VALUE;
        Timer timer = before.timer();
        if (news || !ends || timer == null) {
            // Also for a known limit: a timer may run before the end, since it is not on the clock of the store.
            Timer next = ends ? timer(key, left + 1) : null;
            cancel(timer);
            timer = next;
        }
        put(key, new Known(limit.isPresent() ? limit.limit() : null, limit, timer, 0));
        return news ? before.reported() : null;
    }

    private boolean isOneTooMany(String key) {
        return known.size() >= MOST && !known.containsKey(key);
    }

    private Timer timer(String key, long millis) {
        return scheduler.schedule(
                () -> failing(key, () -> {
                    timerHasRun(key);
                    return inspect.apply(key);
                }),
                TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private synchronized void timerHasRun(String key) {
        known.computeIfPresent(key, (same, it) -> new Known(it.inForce(), it.reported(), null, it.failures()));
    }

    private static void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
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
        } catch (Error e) {
            lookAgain(key);
            throw e;
        }
    }

    /** Without another attempt this instance might never learn of a limit that has to end: no later answer shows a change. */
    private synchronized void lookAgain(String key) {
        if (closed || isOneTooMany(key)) {
            return;
        }
        Known before = get(key);
        int doublings = before.reported().until() == 0 ? Math.min(before.failures(), MOST_DOUBLINGS) : 0;
        Timer again = timer(key, AGAIN_MILLIS << doublings);
        cancel(before.timer());
        put(key, new Known(before.inForce(), before.reported(), again, before.failures() + 1));
    }

    /** One line for each change, on each instance that sees it. */
    private static void report(String key, OverrideLimit before, OverrideLimit limit) {
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
                    "The limit {1} of key ''{0}'', set {2} at {3}{4}, has ended, or was lost with the data of the store: the limit that each"
                            + " instance states applies again. If it was to stay, set it again.",
                    LogSafe.escape(key),
                    Integer.toString(before.limit()),
                    by(before),
                    at(before),
                    because(before));
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
        known.values().forEach(each -> cancel(each.timer()));
    }
}
