package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SnapshotStore} for a client that blocks, such as JDBC. What is requested while a call of
 * the client is under way goes into the next call, all keys together. Thread-safe.
 *
 * <p>It has two clients, each with a connection and a thread of its own: one reads and commits keys, the other renews the
 * session and looks at the queues ({@link QueuePolling}). So claims never delay the renewal of the session. Callers
 * never wait for a client.
 */
public final class BatchingSnapshotStore<S extends Snapshot> implements SnapshotStore<S> {

    private static final System.Logger LOG = System.getLogger(BatchingSnapshotStore.class.getName());
    /** Ten renewals in the length of a session: several may fail before the session ends. */
    private static final int RENEWALS_PER_SESSION = 10;
    /** How long to wait, at most, before the next attempt where there is no session. */
    private static final Duration RETRY = Duration.ofMillis(250);
    /** How many keys one call of the client has at most. */
    static final int LARGEST_BATCH = 64;
    /** How long {@link #close} waits for both threads together. {@link SnapshotStore#close} must not take longer. */
    private static final long LEAVE_MILLIS = 300;

    /**
     * What such a store implements. Each instance is called by one thread at a time. A method that throws may have taken
     * effect. Keys have the names of {@link KeyEncoding}.
     */
    public interface Client<S extends Snapshot> extends AutoCloseable {

        /** As {@link SnapshotStore#read}, for each of the names. */
        Map<String, S> read(Collection<String> names) throws Exception;

        /**
         * As {@link SnapshotStore#commit}, for changes of different keys. Each is made or not made by itself: a conflict of
         * one does not keep the others from being made. The client also checks, with each change, that the session lives.
         *
         * @return the outcomes, in the order of the changes
         */
        List<Commit<S>> commit(List<Change<S>> changes) throws Exception;

        /** As {@link SnapshotStore#evict}, of a process that has a record in the key. */
        int evict(String name, String process) throws Exception;

        /** As {@link SnapshotStore#keyNames}. */
        List<String> keyNames(int most) throws Exception;

        /**
         * Begins a session. It ends by itself, on the store's clock, unless it is renewed within this time.
         *
         * @return the epoch of the store, as in {@link io.github.distributedpermit.spi.Holding#epoch}
         */
        long begin(String session, Duration length) throws Exception;

        /**
         * Renews a session, and ends those of others that were not renewed in time. If the store has lost state since the last call,
         * the session goes on in the next epoch.
         *
         * @param valid for how long the member may still use permits since its last renewal
         */
        Renewal renew(String session, Duration length, Duration valid) throws Exception;

        /** Ends a session. */
        void end(String session) throws Exception;

        /** The readable name of the process behind a session. */
        Optional<String> name(String session) throws Exception;

        /**
         * Waits for notices of other members that they have served this one.
         *
         * @return the names of the keys; empty, at once, if notices may have been lost or do not arrive at all, so that keys have
         *     to be read
         */
        default Optional<Set<String>> notices(Duration atMost) throws Exception {
            return Optional.empty();
        }

        /** Ends its connection. */
        @Override
        void close();
    }

    /**
     * A change of one key.
     *
     * @param name of the key in the store
     * @param planned what is to be committed
     */
    public record Change<S extends Snapshot>(String name, PlannedCommit<S> planned) {}

    /**
     * What the renewal of a session has shown.
     *
     * @param alive whether the session was alive and is renewed
     * @param evicted whether an operator has taken permits from the member since the last renewal
     * @param epoch of the store. If it is another one than before, the session goes on, but nothing of the member may be recorded
     */
    public record Renewal(boolean alive, boolean evicted, long epoch) {}

    /** One request of the layer, until the thread of the claims has an answer to it. */
    private sealed interface Request<S extends Snapshot> permits Read, Write {}

    private record Read<S extends Snapshot>(String name, CompletableFuture<S> answer) implements Request<S> {}

    private record Write<S extends Snapshot>(Change<S> change, CompletableFuture<Commit<S>> answer)
            implements Request<S> {}

    private final Client<S> client;
    private final Client<S> control;
    private final String id;
    private final Duration length;
    private final LongSupplier ticker;
    private final ExecutorService claimsThread;
    private final ScheduledExecutorService controlThread;
    private final long turnsPerRenewal;
    private final QueuePolling<S> polling;
    private final Queue<Request<S>> requests = new ConcurrentLinkedQueue<>();
    /** The keys in use, by their names in the store. */
    private final Map<String, String> keys = new ConcurrentHashMap<>();

    /** Set once by {@link #open}, before the threads run their first tasks. */
    private volatile @Nullable StoreEvents events;
    /** {@code null} before the first session, after the loss of one until the next begins, and after {@link #close}. */
    private volatile @Nullable StoreSession session;
    /** When the client was used last. */
    private volatile long usedAt;
    /** Set once by {@link #close}; a session that begins at that moment is ended at once. */
    private volatile boolean closed;
    /** Counts sessions, so that each one has another name. Confined to the control thread. */
    private long sessions;
    /** When the last renewal was sent that was confirmed, and the epoch of the store then. Both confined to the control thread. */
    private long renewedAt;
    /** Of {@link #keepAlive} while there is a session; confined to the control thread. */
    private long turns;

    private long epoch;

    /**
     * Does nothing before it is {@linkplain #open opened}.
     *
     * @param client for claims
     * @param control for the session
     * @param id of the member; a session is named after it, see {@link #process}
     * @param length of a session
     * @param ticker the monotonic clock, nanoseconds
     * @param claimsThread one thread, which drops what it is given after its shutdown, as it is in {@link #close}; the timers
     *     of the layer may use it as well
     * @param controlThread another one of that kind
     */
    public BatchingSnapshotStore(
            Client<S> client,
            Client<S> control,
            String id,
            Duration length,
            LongSupplier ticker,
            ExecutorService claimsThread,
            ScheduledExecutorService controlThread) {
        this.client = client;
        this.control = control;
        this.id = id;
        this.length = length;
        this.ticker = ticker;
        this.claimsThread = claimsThread;
        this.controlThread = controlThread;
        this.turnsPerRenewal = length.dividedBy(RETRY.multipliedBy(RENEWALS_PER_SESSION)) + 1;
        this.polling = new QueuePolling<>(control, controlThread, ticker, this::served, this::closeControl);
    }

    /** The id of the member behind the name of a session. */
    public static String process(String session) {
        return session.substring(0, session.lastIndexOf('~'));
    }

    @Override
    public void open(StoreEvents layer) {
        events = layer;
        // Periodic, as an error of a task that schedules the next one, such as a full heap, would end all renewals.
        long period = Math.max(1, length.toMillis() / RENEWALS_PER_SESSION / turnsPerRenewal);
        controlThread.scheduleWithFixedDelay(this::keepAlive, 0, period, TimeUnit.MILLISECONDS);
    }

    private StoreEvents events() {
        return Objects.requireNonNull(events, "Not opened");
    }

    /** Renews the session if that is due, or begins one. It must not throw before the close: the executor would cancel the periodic task. */
    private void keepAlive() {
        try {
            StoreSession current = session;
            long sentAt = ticker.getAsLong();
            if (closed || (current != null && turns++ % turnsPerRenewal != 0)) {
                return;
            }
            if (current == null || !renew(current, sentAt)) {
                begin(sentAt);
            } else if (sentAt - usedAt > length.toNanos()) {
                // Firewalls and servers may end a connection that nothing uses.
                memberName(current.member());
            }
        } catch (RuntimeException | Error e) {
            Mailbox.log(LOG, System.Logger.Level.WARNING, "The renewal of the session failed and will be repeated", e);
        }
        closeControl();
    }

    /** A call of the client that took longer than {@link #close} waits may have left a connection open. */
    private void closeControl() {
        if (closed) {
            control.close();
        }
    }

    private void closeClient() {
        if (closed) {
            client.close();
        }
    }

    /**
     * A session is valid from when its renewal was sent: the store may have executed that at once.
     *
     * @return false if the session has ended
     */
    private boolean renew(StoreSession current, long sentAt) {
        Renewal renewal;
        try {
            Duration valid = length.minusNanos(sentAt - renewedAt);
            renewal = control.renew(current.member(), length, valid.isNegative() ? Duration.ZERO : valid);
        } catch (Exception e) {
            // The session may be alive, and nothing but another one would end unavailable(): claims find out by
            // themselves whether the store can be reached.
            LOG.log(System.Logger.Level.DEBUG, "The session was not renewed; the next attempt follows", e);
            return true;
        }
        if (!renewal.alive()) {
            session = null;
            polling.clear();
            events().lost();
            return false;
        }
        if (renewal.epoch() != epoch) {
            epoch = renewal.epoch();
            events().moved(epoch);
            return true;
        }
        renewedAt = sentAt;
        events().alive(sentAt);
        if (renewal.evicted()) {
            lookForEvictions();
        }
        return true;
    }

    /** An operator evicts seldom, so that the renewal does not say of which key: all keys in use are read. */
    private void lookForEvictions() {
        List<String> names = new ArrayList<>(keys.keySet());
        for (int from = 0; from < names.size(); from += LARGEST_BATCH) {
            try {
                control.read(names.subList(from, Math.min(names.size(), from + LARGEST_BATCH)))
                        .forEach(this::served);
            } catch (Exception e) {
                LOG.log(System.Logger.Level.WARNING, "An eviction was not read; the next claim of its key shows it", e);
            }
        }
    }

    /** The layer receives a failure only here: it has no session. */
    private void begin(long sentAt) {
        sessions++;
        StoreSession next = new StoreSession(id + '~' + sessions, sessions);
        try {
            epoch = control.begin(next.member(), length);
        } catch (Exception e) {
            events().unavailable(failure(e));
            return;
        }
        renewedAt = sentAt;
        session = next;
        if (closed) {
            leave(next);
            return;
        }
        events().alive(sentAt);
        events().ready(next);
    }

    /** Another member may have changed the record of this one; the core ignores a state that it has. */
    private void served(String name, S snapshot) {
        StoreSession current = session;
        String key = keys.get(name);
        if (current == null || key == null) {
            return;
        }
        snapshot.table().view(current.member(), snapshot.version()).ifPresent(holding -> events().served(key, holding));
    }

    @Override
    public Duration session() {
        return length;
    }

    /** The stage ends on the thread of the claims, which runs the mailbox of the key then. */
    @Override
    public CompletionStage<S> read(String key) {
        return readName(name(key));
    }

    /** Unlike a key that is used, one that an operator looks at is not remembered. */
    @Override
    public CompletionStage<S> inspect(String key) {
        return readName(KeyEncoding.encode(key));
    }

    private CompletionStage<S> readName(String name) {
        CompletableFuture<S> answer = new CompletableFuture<>();
        add(new Read<>(name, answer));
        return answer;
    }

    /**
     * An exception leaves the outcome unknown, because the connection may have broken after the database had
     * committed.
     */
    @Override
    public CompletionStage<Commit<S>> commit(PlannedCommit<S> planned) {
        CompletableFuture<Commit<S>> answer = new CompletableFuture<>();
        add(new Write<>(new Change<>(name(planned.key()), planned), answer));
        return answer;
    }

    private void add(Request<S> request) {
        usedAt = ticker.getAsLong();
        requests.add(request);
        claimsThread.execute(this::drain);
    }

    /** Takes what has been requested up to now; finds nothing if an earlier run has taken it. */
    private void drain() {
        List<Write<S>> writes = new ArrayList<>();
        List<Read<S>> reads = new ArrayList<>();
        for (int taken = 0; taken < LARGEST_BATCH; taken++) {
            Request<S> next = requests.poll();
            if (next instanceof Write<S> write) {
                writes.add(write);
            } else if (next instanceof Read<S> read) {
                reads.add(read);
            } else {
                break;
            }
        }
        if (!closed && !writes.isEmpty()) {
            write(writes);
        }
        if (!closed && !reads.isEmpty()) {
            read(reads);
        }
        closeClient();
    }

    private void write(List<Write<S>> writes) {
        List<Commit<S>> outcomes;
        try {
            outcomes = client.commit(writes.stream().map(Write::change).toList());
        } catch (Exception | Error e) {
            PermitStoreException failure = failure(e);
            writes.forEach(write -> write.answer().complete(new Commit.OutcomeUnknown<>(failure)));
            return;
        }
        for (int i = 0; i < writes.size(); i++) {
            Change<S> change = writes.get(i).change();
            Commit<S> outcome = outcomes.get(i);
            if (outcome instanceof Commit.Done<S> done) {
                String member = change.planned().member();
                polling.seen(change.name(), member, done.after());
                if (change.planned().step().served().containsKey(member)) {
                    served(change.name(), done.after());
                }
            }
            writes.get(i).answer().complete(outcome);
        }
    }

    private void read(List<Read<S>> reads) {
        Map<String, S> found;
        try {
            found = client.read(reads.stream().map(Read::name).distinct().toList());
        } catch (Exception | Error e) {
            PermitStoreException failure = failure(e);
            reads.forEach(read -> read.answer().completeExceptionally(failure));
            return;
        }
        StoreSession current = session;
        for (Read<S> read : reads) {
            S snapshot = Objects.requireNonNull(found.get(read.name()));
            if (current != null) {
                polling.seen(read.name(), current.member(), snapshot);
            }
            read.answer().complete(snapshot);
        }
    }

    @Override
    public CompletionStage<Optional<String>> memberName(String member) {
        return call(() -> client.name(member));
    }

    @Override
    public CompletionStage<List<String>> keyNames(int most) {
        return call(() -> client.keyNames(most));
    }

    @Override
    public CompletionStage<Integer> evict(String key, String process) {
        return call(() -> client.evict(KeyEncoding.encode(key), process));
    }

    /** For operators: a call by itself. */
    private <T> CompletionStage<T> call(Callable<T> operation) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        usedAt = ticker.getAsLong();
        claimsThread.execute(() -> {
            try {
                answer.complete(operation.call());
            } catch (Exception | Error e) {
                answer.completeExceptionally(failure(e));
            } finally {
                closeClient();
            }
        });
        return answer;
    }

    private static PermitStoreException failure(Throwable e) {
        return e instanceof PermitStoreException known
                ? known
                : PermitStoreException.passing("The store failed: " + e.getMessage(), e);
    }

    /** The store has encoded names only, so the user's key is kept for as long as the key is in use. */
    private String name(String key) {
        String name = KeyEncoding.encode(key);
        keys.putIfAbsent(name, key);
        return name;
    }

    /**
     * Nothing of the member is stored for an unused key: its last change has removed its record. Only the name is removed
     * from memory.
     */
    @Override
    public CompletionStage<Set<String>> release(Set<String> unused) {
        unused.forEach(key -> keys.remove(KeyEncoding.encode(key)));
        return CompletableFuture.completedFuture(unused);
    }

    /**
     * Ends the session behind a call of the control client that is under way. If that takes too long, the threads are
     * interrupted, and the session ends on the clock of the store.
     */
    @Override
    public void close() {
        closed = true;
        StoreSession last = session;
        session = null;
        polling.clear();
        // Waited for before the shutdown, which drops what is queued.
        CountDownLatch left = new CountDownLatch(2);
        claimsThread.execute(() -> {
            client.close();
            left.countDown();
        });
        controlThread.execute(() -> {
            if (last != null) {
                leave(last);
            }
            control.close();
            left.countDown();
        });
        try {
            if (!left.await(LEAVE_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.log(System.Logger.Level.DEBUG, "A call of the client is under way; the session ends by itself");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        claimsThread.shutdownNow();
        controlThread.shutdownNow();
    }

    private void leave(StoreSession last) {
        try {
            control.end(last.member());
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "The session ends by itself", e);
        }
    }
}
