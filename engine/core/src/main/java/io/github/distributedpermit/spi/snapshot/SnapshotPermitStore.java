package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.ReadableNames;
import io.github.distributedpermit.spi.StackRoom;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Kind;
import io.github.distributedpermit.spi.snapshot.KeyRequest.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@link PermitStore} for one member with a {@link SnapshotStore}. It has a {@link KeyWorker} for each key
 * in use, and the session of the member, which all of them share. Thread-safe. Claims of different keys run
 * concurrently; those of one key run one after the other, in the mailbox of its worker.
 *
 * <p>The core calls it as its {@link PermitStore}; the {@link SnapshotStore} reports to it through {@link Events}. It
 * has no thread and takes no lock while it calls either of them.
 */
public final class SnapshotPermitStore<S extends Snapshot> implements PermitStore {

    private static final System.Logger LOG = System.getLogger(SnapshotPermitStore.class.getName());
    /**
     * How long {@link #close} waits until the permits of all keys are returned. Together with the 300 ms of {@link
     * SnapshotStore#close} it stays below the second that {@link PermitStore#close} allows.
     */
    private static final long RETURN_MILLIS = 500;
    /** How long an operator's override waits for a session before it fails. */
    private static final long PATIENCE_SECONDS = 2;
    /** The longest pause between two rounds over all workers, which also repeat claims of unknown outcome. */
    private static final long LONGEST_TURN_MILLIS = 1_000;
    /** A key is released at most a quarter of the idle time later than it could be. */
    private static final int TURNS_PER_IDLE = 4;

    /**
     * By key as the user gave it. A worker is removed only by its own instance, so that a new worker of the same key
     * stays.
     */
    private final ConcurrentMap<String, KeyWorker<S>> workers = new ConcurrentHashMap<>();

    private final SnapshotStore<S> store;
    private final Member member;
    private final HoldingListener listener;
    private final LayerContext<S> context;
    private final IdleKeys<S> idleKeys;
    private final ReadableNames names;
    /** The session in which claims are sent; {@code null} if there is none now. */
    private volatile @Nullable StoreSession session;
    /** Why there is no session; each new request fails with it. */
    private volatile @Nullable PermitStoreException unavailable;
    /**
     * The last session, also after its loss: if the next one has another member name, all that is remembered is void. Guarded
     * by the monitor of the {@link Events}.
     */
    private @Nullable StoreSession previous;

    /** Set once. No new request is accepted from then on; those in the mailboxes are failed by {@link #close}. */
    private volatile boolean closed;

    /**
     * Opens the store.
     *
     * @param listener the core
     * @param ticker the monotonic clock in nanoseconds
     * @param scheduler runs attempts after a pause, and the periodic check of all workers, at least once a second; it
     *     belongs to the store, which shuts it down in {@link SnapshotStore#close}
     * @param idle how long an unused key keeps its worker, and the entries or nodes that the store has created for it
     */
    public SnapshotPermitStore(
            SnapshotStore<S> store,
            Member member,
            HoldingListener listener,
            LongSupplier ticker,
            ScheduledExecutorService scheduler,
            Duration idle) {
        this.store = store;
        this.member = member;
        this.listener = listener;
        this.names = new ReadableNames(store::memberName);
        this.context = new LayerContext<>(store, listener, ticker, scheduler, names, () -> session);
        this.idleKeys = new IdleKeys<>(workers, store, idle.toNanos());
        // One millisecond more, so that an idle time of 0 gives a valid period.
        long turn = Math.min(LONGEST_TURN_MILLIS, idle.toMillis() / TURNS_PER_IDLE + 1);
        scheduler.scheduleWithFixedDelay(this::turn, turn, turn, TimeUnit.MILLISECONDS);
        store.open(new Events());
    }

    @Override
    public Optional<Duration> session() {
        return Optional.of(store.session());
    }

    @Override
    public Optional<String> problem() {
        return store.problem();
    }

    /** Hands the claim to the worker of its key, whose events this thread may run. The stage ends on any thread. */
    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        PermitStoreException refusal = refusal(claim.key(), claim.counts().limit());
        if (refusal != null) {
            answer.completeExceptionally(refusal);
            return answer;
        }
        StackRoom.checkForClient(); // throws here, before the worker has changed anything, if the stack is nearly full
        add(claim.key(), ClaimRequest.of(claim, context.now(), answer));
        return answer;
    }

    /**
     * Unlike a claim, no component of the core ends an override that is unanswered, so one that waits for a session
     * has a time-out of its own.
     */
    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        return override(key, Kind.OVERRIDE, limit, limit.orElse(0));
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return override(key, Kind.LIFT, ended, 0);
    }

    private CompletionStage<Void> override(String key, Kind kind, OverrideLimit limit, int highest) {
        PermitStoreException refusal = refusal(key, highest);
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        add(key, new Task(kind, limit, done));
        return done.exceptionallyCompose(e -> CompletableFuture.failedFuture(
                e instanceof TimeoutException
                        ? PermitStoreException.passing(
                                "The store could not be reached within %d s".formatted(PATIENCE_SECONDS), e)
                        : Failures.of(key, e)));
    }

    /** An override that is lifted has no limit to check; 0 is possible in every store. */
    private @Nullable PermitStoreException refusal(String key, int limit) {
        return closed ? left() : store.refusal(key, limit);
    }

    /** Hands a request to the worker of its key. One that was retired in between is replaced by a new one. */
    private void add(String key, KeyRequest request) {
        // Fails here, before a worker is created for it: while the store is away many keys may be tried.
        PermitStoreException reason = unavailable;
        if (closed || reason != null) {
            request.fail(closed || reason == null ? left() : reason);
            return;
        }
        KeyWorker<S> worker = workers.computeIfAbsent(key, k -> new KeyWorker<>(k, context));
        worker.run(() -> {
            // Read once more, because close() ends only the workers that it finds. This one is among them from here on.
            if (closed) {
                request.fail(left());
            } else if (!worker.add(request)) {
                // Only if it is still that worker: another thread may have put the new one there already.
                workers.remove(key, worker);
                add(key, request);
            } else if (session == null) {
                // Read behind the addition: the loss of a session fails the requests that are queued by then.
                request.waitForSession(PATIENCE_SECONDS);
            }
        });
    }

    /**
     * Reads the store and uses no worker, so that an inspection neither waits for claims nor creates state of the
     * key.
     */
    @Override
    public CompletionStage<KeyState> inspect(String key) {
        if (closed) {
            return CompletableFuture.failedFuture(left());
        }
        return store.inspect(key)
                .thenCompose(at -> names.addTo(at.table().state(key).at(at.time()), at::process))
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(Failures.of(key, e)));
    }

    @Override
    public CompletionStage<KeyList> keys(int most) {
        return closed
                ? CompletableFuture.failedFuture(left())
                : store.keyNames(most + 1).thenApply(names -> KeyList.ofEncoded(names, most));
    }

    /**
     * Serves the queue afterwards: what was deleted is free, and no member was notified of that. The check runs in
     * the worker of this member, so that the queue is served even if no other member looks at the key.
     */
    @Override
    public CompletionStage<Integer> evict(String key, String from) {
        if (closed) {
            return CompletableFuture.failedFuture(left());
        }
        return store.evict(key, from)
                .thenApply(taken -> {
                    add(key, Task.of(Kind.CHECK));
                    return taken;
                })
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(Failures.of(key, e)));
    }

    /** Runs periodically on the scheduler. Each worker's part runs in its mailbox; this thread does not wait for it. */
    private void turn() {
        try {
            for (KeyWorker<S> worker : workers.values()) {
                worker.run(worker::turn);
            }
            if (session != null && !closed) {
                idleKeys.release();
            }
        } catch (RuntimeException | Error e) { // otherwise the scheduler would cancel the periodic task
            Mailbox.log(LOG, System.Logger.Level.WARNING, "The release of unused keys failed and will be repeated", e);
        }
    }

    /** Returns what the member holds, so that waiting members are served at once, then closes the store. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        // First, so that no request that arrives from now on can claim what is returned below.
        closed = true;
        List<CompletableFuture<Void>> returns = new ArrayList<>();
        workers.values().forEach(worker -> {
            CompletableFuture<Void> done = new CompletableFuture<>();
            returns.add(done);
            worker.run(() -> worker.close(left(), done));
        });
        boolean interrupted = false;
        try {
            CompletableFuture.allOf(returns.toArray(CompletableFuture<?>[]::new))
                    .get(RETURN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            // The store still has to be closed; the flag of the thread is restored at the end.
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "What was not returned ends with the session", e);
        }
        session = null; // no attempt may begin while the store closes; those under way fail below, as no answer follows
        store.close();
        workers.values().forEach(worker -> worker.run(() -> worker.abandon(left())));
        workers.clear();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Permanent, because a member that has left never returns under this id. */
    private PermitStoreException left() {
        return PermitStoreException.permanent("Member %s has left the store".formatted(member.name()), null);
    }

    /**
     * Receives the store's events on any of its threads, and passes each on to the workers and to the core. The
     * monitor orders {@code ready} and {@code lost}, and is released before any code of a worker or the core runs.
     * What the core throws is logged here, so that no store has to go on after an event that failed.
     */
    private final class Events implements StoreEvents {

        private static final long NEVER = Long.MIN_VALUE;

        /** When the store has changed its epoch, until the core has reclaimed what it held. Used by the thread of the store's session. */
        private volatile long movedAt = NEVER;

        @Override
        public void ready(StoreSession next) {
            boolean sameMember;
            synchronized (this) {
                StoreSession before = previous;
                // The first session has no predecessor whose records could be left, so that nothing has to be cleaned
                // up or dropped.
                sameMember = before == null || before.member().equals(next.member());
                previous = next;
                unavailable = null;
                // A session that begins while the member leaves must not start requests again.
                session = closed ? null : next;
            }
            each(worker -> {
                if (worker.ready(sameMember)) {
                    workers.remove(worker.key(), worker);
                }
            });
        }

        /**
         * Set before the queued requests fail: one that arrives in between fails in {@link #add} instead of waiting.
         */
        @Override
        public void unavailable(PermitStoreException reason) {
            unavailable = reason;
            each(worker -> worker.unavailable(reason));
        }

        @Override
        public void alive(long sentAtNanos) {
            if (isReclaimed()) {
                Mailbox.run(() -> listener.alive(sentAtNanos));
            }
        }

        @Override
        public void moved(long epoch) {
            movedAt = context.now();
            workers.values().forEach(worker -> worker.reclaim(epoch));
            each(KeyWorker::moved);
            Mailbox.run(listener::reachable);
        }

        /**
         * Whether the core has claimed in the present epoch of the store what it held before. A key where that does not succeed in
         * half of a session loses its permits, because otherwise all keys would lose theirs with the session.
         */
        private boolean isReclaimed() {
            if (movedAt == NEVER) {
                return true;
            }
            List<KeyWorker<S>> behind =
                    workers.values().stream().filter(KeyWorker::isReclaiming).toList();
            if (!behind.isEmpty() && context.now() - movedAt < store.session().toNanos() / 2) {
                return false;
            }
            behind.forEach(worker -> worker.run(worker::giveUp));
            movedAt = NEVER;
            return true;
        }

        /** The session is cleared first, so that no attempt commits in a session that the core considers lost. */
        @Override
        public void lost() {
            synchronized (this) {
                session = null;
            }
            // the workers first: a claim that the core sends because of the loss comes behind it in the mailbox
            each(KeyWorker::sessionLost);
            Mailbox.run(listener::lost);
        }

        @Override
        public void served(String key, Holding holding) {
            one(key, worker -> worker.served(holding));
        }

        @Override
        public void changed(String key) {
            one(key, KeyWorker::changed);
        }

        @Override
        public void outdated(String key) {
            one(key, KeyWorker::outdated);
        }

        @Override
        public void reduced(String key, int left) {
            one(key, worker -> worker.reduced(left));
        }

        @Override
        public void check(String key) {
            one(key, worker -> worker.add(Task.of(Kind.CHECK)));
        }

        private void each(Consumer<KeyWorker<S>> event) {
            workers.values().forEach(worker -> worker.run(() -> event.accept(worker)));
        }

        /** A key without a worker has no state here that the event could concern. */
        private void one(String key, Consumer<KeyWorker<S>> event) {
            KeyWorker<S> worker = workers.get(key);
            if (worker != null) {
                worker.run(() -> event.accept(worker));
            }
        }
    }
}
