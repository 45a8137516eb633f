package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SnapshotStore} for a client that blocks, such as JDBC, and sends no notifications: every call of the client runs on
 * the member's one thread, which also renews the session and polls for notices. Thread-safe; the session is confined
 * to that thread.
 */
public final class BlockingSnapshotStore<S extends Snapshot> implements SnapshotStore<S> {

    private static final System.Logger LOG = System.getLogger(BlockingSnapshotStore.class.getName());
    private static final int RENEWALS_PER_SESSION = 10;
    private static final long LEAVE_MILLIS = 300;

    /**
     * What such a store implements. Called by one thread at a time. A method that throws may have taken effect. Keys have
     * the names of {@link KeyEncoding}.
     */
    public interface Client<S extends Snapshot> {

        /** As {@link SnapshotStore#read}. */
        S read(String name) throws Exception;

        /** As {@link SnapshotStore#commit}; also stores a notice for each member that was served. */
        Commit<S> commit(String name, PlannedCommit<S> planned) throws Exception;

        /** Begins a session. It ends by itself, on the store's clock, unless it is renewed within this time. */
        void begin(String session, Duration length) throws Exception;

        /** Whether the session was alive and is renewed. */
        boolean renew(String session, Duration length) throws Exception;

        /** Deletes the notices for a session and returns them, each with the name of its key. */
        List<Map.Entry<String, Holding>> takeNotices(String session) throws Exception;

        /** Ends a session, and deletes what is left of it. */
        void end(String session) throws Exception;
    }

    private final Client<S> client;
    private final String id;
    private final Duration length;
    private final Duration poll;
    private final LongSupplier ticker;
    private final ScheduledExecutorService thread;
    /** The keys in use, by their names in the store. */
    private final Map<String, String> keys = new ConcurrentHashMap<>();

    private volatile @Nullable StoreEvents events;
    // confined to the thread
    private @Nullable StoreSession session;
    /** Counts sessions, so that each one has another name. */
    private long sessions;

    /**
     * Does nothing before it is {@linkplain #open opened}.
     *
     * @param id of the member; a session is named after it, see {@link #process}
     * @param length of a session
     * @param poll how often the thread looks for notices
     * @param ticker the monotonic clock, nanoseconds
     * @param thread of the member, one; shut down in {@link #close}
     */
    public BlockingSnapshotStore(
            Client<S> client,
            String id,
            Duration length,
            Duration poll,
            LongSupplier ticker,
            ScheduledExecutorService thread) {
        this.client = client;
        this.id = id;
        this.length = length;
        this.poll = poll;
        this.ticker = ticker;
        this.thread = thread;
    }

    /** The id of the member behind the name of a session. */
    public static String process(String session) {
        return session.substring(0, session.lastIndexOf('~'));
    }

    @Override
    public void open(StoreEvents layer) {
        events = layer;
        long renewal = length.toMillis() / RENEWALS_PER_SESSION;
        thread.scheduleWithFixedDelay(guarded(this::keepAlive), 0, renewal, TimeUnit.MILLISECONDS);
        thread.scheduleWithFixedDelay(guarded(this::poll), 0, poll.toMillis(), TimeUnit.MILLISECONDS);
    }

    private StoreEvents events() {
        return Objects.requireNonNull(events, "Not opened");
    }

    /** An executor cancels a periodic task that throws, so that the session would end. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.WARNING, "A periodic task of the store failed and will be repeated", e);
            }
        };
    }

    /** A session is valid from when its renewal was sent: the store may have executed that at once. */
    private void keepAlive() {
        long sentAt = ticker.getAsLong();
        StoreSession current = session;
        try {
            if (current != null && !client.renew(current.member(), length)) {
                session = null;
                events().lost();
            }
            if (session == null) {
                sessions++;
                StoreSession next = new StoreSession(id + '~' + sessions, sessions);
                client.begin(next.member(), length);
                session = next;
                events().alive(sentAt);
                events().ready(next);
            } else {
                events().alive(sentAt);
            }
        } catch (Exception e) {
            events().unavailable(failure(e));
        }
    }

    /** Passes notices on. One that is lost here costs time only: the core finds grants by its re-check. */
    private void poll() {
        StoreSession current = session;
        if (current == null) {
            return;
        }
        try {
            for (Map.Entry<String, Holding> notice : client.takeNotices(current.member())) {
                String key = keys.get(notice.getKey());
                if (key != null) {
                    events().served(key, notice.getValue());
                }
            }
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "Notices were not read; the core finds grants by its re-check", e);
        }
    }

    @Override
    public Duration session() {
        return length;
    }

    @Override
    public CompletionStage<S> read(String key) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return client.read(name(key));
                    } catch (Exception e) {
                        throw failure(e);
                    }
                },
                thread);
    }

    @Override
    public CompletionStage<Commit<S>> commit(PlannedCommit<S> planned) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return client.commit(name(planned.key()), planned);
                    } catch (Exception e) {
                        return new Commit.OutcomeUnknown<>(failure(e));
                    }
                },
                thread);
    }

    private static PermitStoreException failure(Exception e) {
        return e instanceof PermitStoreException known
                ? known
                : PermitStoreException.passing("The store failed: " + e.getMessage(), e);
    }

    private String name(String key) {
        String name = KeyEncoding.encode(key);
        keys.putIfAbsent(name, key);
        return name;
    }

    @Override
    public CompletionStage<Set<String>> release(Set<String> unused) {
        unused.forEach(key -> keys.remove(KeyEncoding.encode(key)));
        return CompletableFuture.completedFuture(unused);
    }

    @Override
    public void close() {
        thread.execute(guarded(this::leave));
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LEAVE_MILLIS, TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void leave() {
        StoreSession last = session;
        session = null;
        if (last == null) {
            return;
        }
        try {
            client.end(last.member());
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "The session ends by itself", e);
        }
    }
}
