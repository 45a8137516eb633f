package io.github.distributedpermit.metrics;

import io.github.distributedpermit.metrics.FleetKeys.Key;
import io.github.distributedpermit.spi.KeyDirectory;
import io.github.distributedpermit.spi.KeyState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Refreshes a {@link FleetView} from the store: one inspection for each key in use, at most a given number, a few at a time.
 * A refresh ends early when several inspections have failed, and a second one does not begin before the first has ended. It
 * blocks no thread. Thread-safe.
 */
public final class FleetRefresh {

    private static final int AT_ONCE = 8;
    private static final int FAILURES = 3;

    private final KeyDirectory directory;
    private final ToIntFunction<String> limits;
    private final FleetView view;
    private final int most;
    private final Duration timeout;
    private final AtomicBoolean running = new AtomicBoolean();

    /**
     * Refreshes this view.
     *
     * @param limits the limit that this instance states for a name
     * @param most how many keys one refresh inspects
     * @param timeout how long one inspection may take
     */
    public FleetRefresh(
            KeyDirectory directory, ToIntFunction<String> limits, FleetView view, int most, Duration timeout) {
        this.directory = directory;
        this.limits = limits;
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
        } catch (RuntimeException e) {
            // the view shows what it had until that is too old, and the next refresh tries again
            running.set(false);
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> ended = round.end.whenComplete((done, failure) -> running.set(false));
        round.next();
        return ended;
    }

    private final class Round {

        private final Map<String, FleetTotals> totals = new HashMap<>();
        private final Map<String, Integer> inUse;
        private final Queue<Key> due;
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private int inFlight;
        private int failures;

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
            } catch (RuntimeException e) {
                return CompletableFuture.failedFuture(e);
            }
        }

        private synchronized void answered(Key key, CompletableFuture<KeyState> answer) {
            inFlight--;
            try {
                KeyState state = result(answer);
                if (state != null) {
                    FleetTotals found = FleetTotals.of(state, limits.applyAsInt(key.name()));
                    totals.merge(key.name(), found, FleetTotals::plus);
                    return;
                }
                failures++;
            } catch (RuntimeException e) {
                failures++; // the key counts as skipped
            }
        }

        private @Nullable KeyState result(CompletableFuture<KeyState> answer) {
            return answer.isCompletedExceptionally() ? null : answer.join();
        }

        /** Shows what is known. */
        private void finish() {
            if (end.isDone()) {
                return;
            }
            try {
                inUse.forEach((name, keys) -> {
                    FleetTotals known = totals.getOrDefault(name, FleetTotals.NONE);
                    totals.put(name, known.andSkipped(keys - known.inspected()));
                });
                view.show(totals);
            } finally {
                end.complete(null);
            }
        }
    }
}
