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
 *
 * <p>A store that uses it implements {@link Client} only, and passes an instance of this class to {@link
 * SnapshotPermitStore}. All keys share the one thread, so that a slow call of the client delays the claims of all
 * keys, and the renewal of the session.
 */
public final class BlockingSnapshotStore<S extends Snapshot> implements SnapshotStore<S> {

    private static final System.Logger LOG = System.getLogger(BlockingSnapshotStore.class.getName());
    /** Ten renewals in the length of a session: several may fail before the session ends. */
    private static final int RENEWALS_PER_SESSION = 10;
    /** How long {@link #close} waits for the thread. {@link SnapshotStore#close} must not take longer. */
    private static final long LEAVE_MILLIS = 300;

    /**
     * What such a store implements. Called by one thread at a time. A method that throws may have taken effect. Keys have
     * the names of {@link KeyEncoding}.
     */
    public interface Client<S extends Snapshot> {

        /** As {@link SnapshotStore#read}. */
        S read(String name) throws Exception;

        /**
         * As {@link SnapshotStore#commit}; also stores a notice for each member that was served. The notices have to
         * be stored in the same transaction: a member must not receive one of a change that was rolled back. The
         * client also checks, in that transaction, that the session is alive.
         */
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

    /** Set once by {@link #open}, before the thread runs its first task. */
    private volatile @Nullable StoreEvents events;
    // confined to the thread
    /** {@code null} before the first session, after the loss of one until the next begins, and after {@link #leave}. */
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

    /**
     * Both tasks begin at once. Each runs again after a pause that begins with its end, so that slow calls do not
     * pile up.
     */
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
        if (current == null) {
            begin(sentAt);
            return;
        }
        boolean renewed;
        try {
            renewed = client.renew(current.member(), length);
        } catch (Exception e) {
            // The session may be alive, and nothing but another one would end unavailable(): claims find out by
            // themselves whether the store can be reached.
            LOG.log(System.Logger.Level.DEBUG, "The session was not renewed; the next attempt follows", e);
            return;
        }
        if (renewed) {
            events().alive(sentAt);
        } else {
            session = null;
            events().lost();
            begin(sentAt);
        }
    }

    /** The layer receives a failure only here: it has no session. */
    private void begin(long sentAt) {
        sessions++;
        StoreSession next = new StoreSession(id + '~' + sessions, sessions);
        try {
            client.begin(next.member(), length);
        } catch (Exception e) {
            events().unavailable(failure(e));
            return;
        }
        session = next;
        events().alive(sentAt);
        events().ready(next);
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

    /** The stage ends on the thread of the member, which runs the mailbox of the key then. */
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

    /**
     * An exception leaves the outcome unknown, because the connection may have broken after the database had
     * committed.
     */
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

    /** Notices have the encoded name only, so the user's key is kept for as long as the key is in use. */
    private String name(String key) {
        String name = KeyEncoding.encode(key);
        keys.putIfAbsent(name, key);
        return name;
    }

    /**
     * Nothing is stored for an unused key: the last change of the member has deleted its record. Only the name is
     * removed from memory.
     */
    @Override
    public CompletionStage<Set<String>> release(Set<String> unused) {
        unused.forEach(key -> keys.remove(KeyEncoding.encode(key)));
        return CompletableFuture.completedFuture(unused);
    }

    /**
     * Ends the session in the order of the thread's tasks, behind a call of the client that is under way. If that
     * call takes too long the thread is interrupted, and the session ends on the clock of the store.
     */
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
