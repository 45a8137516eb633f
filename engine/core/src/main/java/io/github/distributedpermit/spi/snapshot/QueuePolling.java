package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the keys in whose queues the member is. If the store sends notices, it reads the keys that they name. Otherwise it
 * reads all of them, every 5 ms for a tenth of a second after the last change, then at growing intervals up to 100 ms. It does
 * nothing while the member is in no queue. Thread-safe; reads run on the executor of the control connection.
 *
 * <p>Nothing but latency depends on it: the core of a waiting member repeats its claim anyway.
 */
final class QueuePolling<S extends Snapshot> {

    private static final System.Logger LOG = System.getLogger(QueuePolling.class.getName());
    private static final long SHORTEST_NANOS = Duration.ofMillis(5).toNanos();
    private static final long LONGEST_NANOS = Duration.ofMillis(100).toNanos();
    /** How long the shortest interval is kept after a change. */
    private static final long EAGER_NANOS = Duration.ofMillis(100).toNanos();

    /**
     * What was last seen of the member's record of a key while it was in the queue.
     *
     * @param member the name of the member in its session
     */
    private record Place(String member, long version) {

        /** Empty if the member is not in the queue. */
        static Optional<Place> of(String member, Snapshot snapshot) {
            return snapshot.record(member)
                    .filter(PermitRecord::isQueued)
                    .map(record -> new Place(member, record.version()));
        }

        boolean isIn(Snapshot snapshot) {
            return of(member, snapshot).filter(this::equals).isPresent();
        }
    }

    /** By the key's name in the store. */
    private final Map<String, Place> queued = new ConcurrentHashMap<>();

    private final BatchingSnapshotStore.Client<S> client;
    private final ScheduledExecutorService control;
    private final LongSupplier ticker;
    /** Receives the name of each key where the record of the member has changed, and the key. */
    private final BiConsumer<String, S> changed;

    /** Runs on the executor after each poll, also if that has failed. */
    private final Runnable polled;

    /** Whether a poll is scheduled or runs. */
    private final AtomicBoolean polling = new AtomicBoolean();
    /** When the member last joined a queue or found a change; any thread sets it. */
    private volatile long lastChange;
    /** Confined to the poll, of which there is one at a time. */
    private long interval = SHORTEST_NANOS;
    /** The keys of the last notices in whose queues the member was not yet, as far as {@link #seen} said. Confined to the poll. */
    private Set<String> early = Set.of();

    QueuePolling(
            BatchingSnapshotStore.Client<S> client,
            ScheduledExecutorService control,
            LongSupplier ticker,
            BiConsumer<String, S> changed,
            Runnable polled) {
        this.client = client;
        this.control = control;
        this.ticker = ticker;
        this.changed = changed;
        this.polled = polled;
    }

    /** A request of the member itself has left the key like this. */
    void seen(String name, String member, S snapshot) {
        Optional<Place> place = Place.of(member, snapshot);
        if (place.isEmpty()) {
            queued.remove(name);
        } else if (queued.put(name, place.get()) == null) {
            lastChange = ticker.getAsLong();
            schedule(SHORTEST_NANOS);
        }
    }

    /** The session has ended, and with it the member's place in each queue. */
    void clear() {
        queued.clear();
    }

    private void schedule(long nanos) {
        if (polling.compareAndSet(false, true)) {
            try {
                control.schedule(this::poll, nanos, TimeUnit.NANOSECONDS);
            } catch (RuntimeException | Error e) { // such as a full heap: the next change schedules it
                polling.set(false);
                throw e;
            }
        }
    }

    private void poll() {
        boolean notified = false;
        try {
            if (!queued.isEmpty()) {
                // Not longer than between two polls, since the thread also renews the session.
                long wait = early.isEmpty() ? LONGEST_NANOS : SHORTEST_NANOS;
                Optional<Set<String>> notices = client.notices(Duration.ofNanos(wait));
                notified = notices.isPresent();
                read(notices);
            }
        } catch (Exception | Error e) {
            LOG.log(System.Logger.Level.DEBUG, "The queues were not read; the core finds grants by its re-check", e);
        } finally {
            boolean eager = ticker.getAsLong() - lastChange < EAGER_NANOS;
            interval = eager ? SHORTEST_NANOS : Math.min(LONGEST_NANOS, interval + interval / 4);
            polling.set(false);
            polled.run();
            if (!queued.isEmpty()) {
                schedule(notified ? 0 : interval);
            }
        }
    }

    private void read(Optional<Set<String>> notices) throws Exception {
        Map<String, Place> due = new HashMap<>(queued);
        if (notices.isPresent()) {
            Set<String> named = new HashSet<>(notices.get());
            named.addAll(early);
            due.keySet().retainAll(named);
            early = new HashSet<>(notices.get());
            early.removeAll(due.keySet());
        }
        List<Map.Entry<String, Place>> all = List.copyOf(due.entrySet());
        int most = BatchingSnapshotStore.LARGEST_BATCH;
        for (int from = 0; from < all.size(); from += most) {
            List<Map.Entry<String, Place>> some = all.subList(from, Math.min(all.size(), from + most));
            Map<String, S> read =
                    client.read(some.stream().map(Map.Entry::getKey).toList());
            some.forEach(key -> compare(key.getKey(), key.getValue(), read.get(key.getKey())));
        }
    }

    /** If the member itself has changed the key since the poll began, its own answer has the newer state. */
    private void compare(String name, Place before, @Nullable S snapshot) {
        if (snapshot == null || before.isIn(snapshot)) {
            return;
        }
        Optional<Place> place = Place.of(before.member(), snapshot);
        boolean current = place.isPresent() ? queued.replace(name, before, place.get()) : queued.remove(name, before);
        if (current) {
            lastChange = ticker.getAsLong();
            changed.accept(name, snapshot);
        }
    }
}
