package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the keys in whose queues the member is, for a store that sends no notifications: one read of all of them, every
 * 5 ms for a tenth of a second after the last change, then at growing intervals up to 100 ms, and none while the member is in
 * no queue. Thread-safe; reads run on the executor of the control connection.
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

    /** Whether a poll is scheduled or runs. */
    private final AtomicBoolean polling = new AtomicBoolean();
    /** When the member last joined a queue or found a change; any thread sets it. */
    private volatile long lastChange;
    /** Confined to the poll, of which there is one at a time. */
    private long interval = SHORTEST_NANOS;

    QueuePolling(
            BatchingSnapshotStore.Client<S> client,
            ScheduledExecutorService control,
            LongSupplier ticker,
            BiConsumer<String, S> changed) {
        this.client = client;
        this.control = control;
        this.ticker = ticker;
        this.changed = changed;
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
            control.schedule(this::poll, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void poll() {
        Map<String, Place> before = Map.copyOf(queued);
        try {
            if (!before.isEmpty()) {
                Map<String, S> read = client.read(before.keySet());
                before.forEach((name, place) -> compare(name, place, read.get(name)));
            }
        } catch (Exception | Error e) {
            LOG.log(System.Logger.Level.DEBUG, "The queues were not read; the core finds grants by its re-check", e);
        } finally {
            boolean eager = ticker.getAsLong() - lastChange < EAGER_NANOS;
            interval = eager ? SHORTEST_NANOS : Math.min(LONGEST_NANOS, interval + interval / 4);
            polling.set(false);
            if (!queued.isEmpty()) {
                schedule(interval);
            }
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
