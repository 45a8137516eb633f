package io.github.distributedpermit.metrics;

import io.github.distributedpermit.metrics.FleetKeys.Key;
import io.github.distributedpermit.spi.KeyDirectory;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Refreshes a {@link FleetView} from the store: one inspection for each key in use, at most a given number, a few at a time.
 * A refresh ends early when several inspections have failed that may succeed later, and a second one does not begin before the first has ended. It
 * blocks no thread. Thread-safe.
 */
public final class FleetRefresh {

    private static final Log log = LogFactory.getLog(FleetRefresh.class);
    private static final int AT_ONCE = 8;
    /** How many keys one refresh inspects, so that the store is not read without end. */
    public static final int MOST_KEYS = 100;

    private static final int FAILURES = 3;

    private final KeyDirectory directory;
    private final ToIntFunction<String> limits;
    private final Predicate<String> paused;
    private final FleetView view;
    private final int most;
    private final Duration timeout;
    private final AtomicBoolean running = new AtomicBoolean();

    /** Whether a failure was logged, and no refresh without one has ended since. */
    private volatile boolean warned;

    /**
     * Refreshes this view.
     *
     * @param limits the limit that this instance states for a name
     * @param paused whether an operator has paused all calls of a name
     * @param most how many keys one refresh inspects
     * @param timeout how long one inspection may take
     */
    public FleetRefresh(
            KeyDirectory directory,
            ToIntFunction<String> limits,
            Predicate<String> paused,
            FleetView view,
            int most,
            Duration timeout) {
        this.directory = directory;
        this.limits = limits;
        this.paused = paused;
        this.view = view;
        this.most = most;
        this.timeout = timeout;
    }

    /** Begins a refresh, unless one is running. The future completes when it has ended, and never fails. */
    public CompletableFuture<Void> refresh() {
        if (!running.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(null);
        }
        Round round;
        try {
            round = new Round(FleetKeys.of(directory, most));
        } catch (Throwable e) { // An Error, too, must not end all later refreshes.
            // The view shows what it had until that is too old, and the next refresh tries again.
            running.set(false);
            warn(e);
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> ended = round.end.whenComplete((done, failure) -> running.set(false));
        round.next();
        return ended;
    }

    /** Logs a failure that is not one of the store, unless the refresh before has logged one. */
    private void warn(Throwable failure) {
        if (!warned) {
            warned = true;
            log.warn(
                    "Could not read all keys for the meters distributed.permit.fleet.*; the next refresh tries again."
                            + " Further failures are logged after a refresh without one.",
                    failure);
        }
    }

    private final class Round {

        private final Map<String, FleetTotals> totals = new HashMap<>();
        private final Map<String, Integer> inUse;
        private final Queue<Key> due;
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private int inFlight;
        private int failures;
        private boolean unexpected;

        Round(FleetKeys keys) {
            inUse = keys.inUse();
            due = new ArrayDeque<>(keys.chosen());
        }

        /** Sends what may be sent now. */
        private void next() {
            while (true) {
                Key key;
                synchronized (this) {
                    if (failures >= FAILURES) {
                        due.clear();
                    }
                    key = inFlight < AT_ONCE ? due.poll() : null;
                    if (key == null) {
                        if (inFlight == 0 && due.isEmpty()) {
                            finish();
                        }
                        return;
                    }
                    inFlight++;
                }
                Key sent = key;
                CompletableFuture<KeyState> answer = inspect(sent);
                if (answer.isDone()) {
                    answered(sent, answer);
                } else {
                    answer.whenComplete((state, failure) -> {
                        answered(sent, answer);
                        next();
                    });
                }
            }
        }

        private CompletableFuture<KeyState> inspect(Key key) {
            try {
                return directory
                        .inspect(key.key())
                        .toCompletableFuture()
                        .copy()
                        .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (Throwable e) { // An Error, too, counts as the answer. Without one the round would never end.
                return CompletableFuture.failedFuture(e);
            }
        }

        private synchronized void answered(Key key, CompletableFuture<KeyState> answer) {
            inFlight--;
            try {
                FleetTotals found = FleetTotals.of(answer.join(), limits.applyAsInt(key.name()));
                totals.merge(key.name(), found, FleetTotals::plus);
            } catch (Throwable e) { // An Error, too, must not keep the round from sending the next key.
                failed(e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
            }
        }

        /** The key counts as skipped. */
        private void failed(Throwable cause) {
            if (cause instanceof PermitStoreException store) {
                // A key that the store refuses says nothing about the others, so it does not end the round.
                failures += store.isPermanent() ? 0 : 1;
                return;
            }
            failures++;
            if (!(cause instanceof TimeoutException)) {
                unexpected = true;
                warn(cause);
            }
        }

        /** Shows what is known. */
        private void finish() {
            if (end.isDone()) {
                return;
            }
            try {
                inUse.forEach((name, keys) -> {
                    FleetTotals known = totals.getOrDefault(name, FleetTotals.NONE);
                    FleetTotals all = known.andSkipped(keys - known.inspected());
                    totals.put(name, paused.test(name) ? all.asPaused() : all);
                });
                view.show(totals);
                warned &= unexpected;
            } finally {
                end.complete(null);
            }
        }
    }
}
