package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.Scheduler.Timer;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What this instance knows of the pauses of names and of its application ({@link Pause}). It reads one key at an
 * interval. As long as that has no limit there are no pauses. After each of its changes the pauses of the application and of the names in use
 * are read, and that of any other name before its first call gets a permit. A pause that is known stays while the store does not answer.
 *
 * <p>Thread-safe. Its lock is held for a few assignments and the setting of a timer, never while calling the store or a queue.
 */
final class Pauses {

    /** A pause is in force everywhere after this time and two answers of the store. */
    private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(5);

    /** So many keys are read at once, so that claims do not have to wait. */
    private static final int AT_ONCE = 8;

    /** Of more names the others are read again at their next call. */
    private static final int MOST = 10_000;

    /** While further keys are read, the queues are notified this often. */
    private static final long BETWEEN_NEWS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Scheduler scheduler;
    private final LongSupplier clock;
    private final long interval;
    private final long timeout;
    private final Function<String, CompletionStage<KeyState>> inspect;
    private final Supplier<Set<String>> namesInUse;
    private final Runnable changed;

    private final Map<String, Reading> known = new ConcurrentHashMap<>();

    /** The keys to read. One that is read already is read again afterwards: an older answer must not replace a later one. */
    private final Set<String> due = new LinkedHashSet<>();

    private final Set<String> underWay = new HashSet<>();

    private volatile @Nullable String application;

    /** The limit of {@link Pause#CHANGES} that was read last; {@code null} before the first answer. */
    private volatile @Nullable OverrideLimit changes;

    /** Whether that could not be read although it was tried. */
    private volatile boolean silent;

    /** Whether nothing has to be looked up for a call. */
    private volatile boolean none;

    private boolean news;
    private long newsAt;
    private @Nullable Timer timer;
    private boolean closed;

    private enum Reading {
        PENDING,
        FAILED,
        RUNS,
        PAUSED
    }

    /**
     * @param inspect reads a key
     * @param namesInUse the names of calls that hold or wait, and the patterns of their settings
     * @param changed called without a lock after the pause of some name has changed
     */
    Pauses(
            Scheduler scheduler,
            LongSupplier clock,
            long renewal,
            long timeout,
            Function<String, CompletionStage<KeyState>> inspect,
            Supplier<Set<String>> namesInUse,
            Runnable changed) {
        this.scheduler = scheduler;
        this.clock = clock;
        this.interval = Math.min(renewal, LONGEST_INTERVAL);
        this.timeout = timeout;
        this.inspect = inspect;
        this.namesInUse = namesInUse;
        this.changed = changed;
    }

    /** From now on calls obey pauses, also of this application. */
    void obey(String nameOfApplication) {
        application = Pause.ofApplication(nameOfApplication);
    }

    /**
     * What is known for calls of a name.
     *
     * @param pattern the name or pattern of its settings
     */
    PauseState of(String name, String pattern) {
        if (application == null || none) {
            return PauseState.NONE;
        }
        OverrideLimit last = changes;
        if (last == null) {
            return silent ? PauseState.NONE : PauseState.UNKNOWN;
        }
        PauseState most = PauseState.NONE;
        for (String key : keys(name, pattern)) {
            PauseState state = state(known.get(key), last, silent);
            most = state.compareTo(most) > 0 ? state : most;
        }
        return most;
    }

    /** What can pause calls of the name. */
    private Set<String> keys(String name, String pattern) {
        Set<String> keys = new LinkedHashSet<>();
        keys.add(Pause.ofName(name));
        keys.add(Pause.ofName(pattern));
        String all = application;
        if (all != null) {
            keys.add(all);
        }
        return keys;
    }

    /** The same if any of them may be set, as far as this instance knows; otherwise none. */
    Set<String> possible(String name, String pattern) {
        if (application == null) {
            return Set.of();
        }
        begin();
        return none ? Set.of() : keys(name, pattern);
    }

    /** What a store that does not answer would say is left to claims. */
    private static PauseState state(@Nullable Reading reading, OverrideLimit last, boolean silent) {
        PauseState unknown = silent ? PauseState.NONE : PauseState.UNKNOWN;
        if (reading == null) {
            return last.isEmpty() ? PauseState.NONE : unknown;
        }
        return switch (reading) {
            case PENDING -> unknown;
            case PAUSED -> PauseState.PAUSED;
            case RUNS, FAILED -> PauseState.NONE;
        };
    }

    /** A call of this name is held back until that is known. */
    void find(String name, String pattern) {
        begin();
        OverrideLimit last = changes;
        if (last != null && last.isPresent()) {
            if (known.size() >= MOST) {
                forget();
            }
            keys(name, pattern).forEach(this::read);
            pump();
        }
    }

    /** {@code false} if the looks have begun already. */
    private boolean begin() {
        synchronized (this) {
            if (timer != null || closed) {
                return false;
            }
            timer = schedule();
        }
        readChanges();
        return true;
    }

    private void look() {
        synchronized (this) {
            if (closed) {
                return;
            }
            timer = null;
            timer = schedule();
        }
        readChanges();
    }

    /** Drops what can be read again. A call that is held back meanwhile has it read. */
    private synchronized void forget() {
        known.entrySet()
                .removeIf(each -> !each.getKey().equals(application)
                        && (each.getValue() == Reading.RUNS || each.getValue() == Reading.FAILED));
    }

    /** If an error ends the looks, the next call begins them again. */
    private Timer schedule() {
        try {
            return scheduler.schedule(this::look, silent ? Math.min(interval, timeout) : interval);
        } catch (RuntimeException | Error e) {
            changes = null;
            none = false;
            silent = false;
            throw e;
        }
    }

    /** Looks whether something has changed, and not only at the next interval. */
    void lookNow() {
        if (!begin()) {
            readChanges();
        }
    }

    /** If pauses could not be read, they are now. */
    void storeIsReachable() {
        if (silent && application != null) {
            lookNow();
        }
    }

    private void readChanges() {
        synchronized (this) {
            due.add(Pause.CHANGES);
        }
        pump();
    }

    private synchronized void read(String key) {
        if (known.putIfAbsent(key, Reading.PENDING) == null) {
            due.add(key);
        }
    }

    /** Reads what is due. A store that answers at once is read in this loop, and not by a recursion for each key. */
    private void pump() {
        for (String key = next(); key != null; key = next()) {
            String asked = key;
            CompletableFuture<KeyState> answer = ask(asked);
            if (answer.isDone()) {
                ended(asked, answer);
            } else {
                answer.whenComplete((state, failure) -> {
                    ended(asked, answer);
                    pump();
                });
            }
        }
        publish();
    }

    private synchronized @Nullable String next() {
        if (closed || underWay.size() >= AT_ONCE) {
            return null;
        }
        if (due.contains(Pause.CHANGES) && underWay.add(Pause.CHANGES)) {
            due.remove(Pause.CHANGES); // first, since it shows whether the store answers
            return Pause.CHANGES;
        }
        for (String key : due) {
            if (underWay.add(key)) {
                due.remove(key);
                return key;
            }
        }
        return null;
    }

    private CompletableFuture<KeyState> ask(String key) {
        try {
            CompletableFuture<KeyState> answer =
                    inspect.apply(key).toCompletableFuture().copy();
            if (!answer.isDone()) {
                Timer late = scheduler.schedule(() -> answer.completeExceptionally(new TimeoutException()), timeout);
                answer.whenComplete((state, failure) -> late.cancel());
            }
            return answer;
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void ended(String key, CompletableFuture<KeyState> answer) {
        synchronized (this) {
            underWay.remove(key);
        }
        OverrideLimit limit =
                answer.isCompletedExceptionally() ? null : answer.join().override();
        boolean isOfChanges = key.equals(Pause.CHANGES);
        boolean readsAll = isOfChanges && limit != null && (silent || !limit.equals(changes));
        Set<String> inUse = readsAll ? namesInUse.get() : Set.of();
        synchronized (this) {
            if (isOfChanges) {
                changesAre(limit, inUse);
            } else {
                pauseIs(key, limit);
            }
        }
    }

    /** What is not known to run is read again at each look: an answer may have been lost. */
    private void changesAre(@Nullable OverrideLimit limit, Set<String> inUse) {
        OverrideLimit before = changes;
        if (limit == null) {
            news |= !silent;
            silent = true;
            return;
        }
        boolean other = !limit.equals(before);
        if (limit.isEmpty()) {
            known.values().removeIf(reading -> reading != Reading.PAUSED);
        } else {
            inUse.forEach(name -> keys(name, name).forEach(this::read));
        }
        known.forEach((key, reading) -> {
            if (other || reading != Reading.RUNS) {
                due.add(key);
            }
        });
        news |= other || silent;
        silent = false;
        none = limit.isEmpty() && known.isEmpty();
        changes = limit; // last, because an error before it has all of this repeated
    }

    private void pauseIs(String key, @Nullable OverrideLimit limit) {
        Reading before = known.get(key);
        OverrideLimit last = changes;
        Reading after = limit == null
                ? before == Reading.PAUSED ? Reading.PAUSED : Reading.FAILED
                : limit.limit() == 0 ? Reading.PAUSED : Reading.RUNS;
        if (after != Reading.PAUSED && last != null && last.isEmpty()) {
            known.remove(key);
        } else {
            known.put(key, after);
        }
        news |= before != after;
        none = last != null && last.isEmpty() && known.isEmpty();
    }

    /** The limit of a key has been seen to change, for example since its time is over. */
    void limitChanged(String key) {
        synchronized (this) {
            if (!known.containsKey(key)) {
                return;
            }
            due.add(key);
        }
        pump();
    }

    private void publish() {
        synchronized (this) {
            long now = clock.getAsLong();
            if (!news || (!due.isEmpty() && now - newsAt < BETWEEN_NEWS)) {
                return;
            }
            news = false;
            newsAt = now;
        }
        changed.run();
    }

    synchronized void close() {
        closed = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
