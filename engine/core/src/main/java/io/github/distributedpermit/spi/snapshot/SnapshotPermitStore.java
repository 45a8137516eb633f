package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
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
import java.util.OptionalInt;
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
 */
public final class SnapshotPermitStore<S extends Snapshot> implements PermitStore {

    private static final System.Logger LOG = System.getLogger(SnapshotPermitStore.class.getName());
    private static final long RETURN_MILLIS = 500;
    private static final long PATIENCE_SECONDS = 2;
    private static final long LONGEST_TURN_MILLIS = 1_000;
    private static final int TURNS_PER_IDLE = 4;

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
        this.context = new LayerContext<>(store, listener, ticker, scheduler, () -> session);
        this.idleKeys = new IdleKeys<>(workers, store, idle.toNanos());
        this.names = new ReadableNames(store::memberName);
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

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        PermitStoreException refusal = refusal(claim.key(), claim.limit());
        if (refusal != null) {
            answer.completeExceptionally(refusal);
            return answer;
        }
        StackRoom.checkForClient(); // throws here, before the worker has changed anything, if the stack is nearly full
        add(claim.key(), ClaimRequest.of(claim, context.now(), answer));
        return answer;
    }

    @Override
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        OverrideLimit.check(limit);
        PermitStoreException refusal = refusal(key, limit.orElse(0));
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletableFuture<Void> patient = session == null ? done.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS) : done;
        add(key, new Task(Kind.OVERRIDE, limit, done));
        return patient.exceptionallyCompose(e -> CompletableFuture.failedFuture(
                e instanceof TimeoutException
                        ? PermitStoreException.passing(
                                "The store could not be reached within %d s".formatted(PATIENCE_SECONDS), e)
                        : Failures.of(key, e)));
    }

    private @Nullable PermitStoreException refusal(String key, int limit) {
        return closed ? left() : store.refusal(key, limit);
    }

    /** Hands a request to the worker of its key. One that was retired in between is replaced by a new one. */
    private void add(String key, KeyRequest request) {
        PermitStoreException reason = unavailable;
        if (closed || reason != null) {
            request.fail(closed || reason == null ? left() : reason);
            return;
        }
        KeyWorker<S> worker = workers.computeIfAbsent(key, k -> new KeyWorker<>(k, context));
        worker.run(() -> {
            if (!worker.add(request)) {
                workers.remove(key, worker);
                add(key, request);
            }
        });
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        if (closed) {
            return CompletableFuture.failedFuture(left());
        }
        return store.inspect(key)
                .thenCompose(at -> names.addTo(at.table().state(key), at::process))
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(Failures.of(key, e)));
    }

    /** Serves the queue afterwards: what was deleted is free, and no member was notified of that. */
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

    /** Runs periodically on the scheduler. */
    private void turn() {
        try {
            for (KeyWorker<S> worker : workers.values()) {
                worker.run(worker::turn);
            }
            if (session != null && !closed) {
                idleKeys.release();
            }
        } catch (RuntimeException | Error e) { // otherwise the scheduler would cancel the periodic task
            LOG.log(System.Logger.Level.WARNING, "The release of unused keys failed and will be repeated", e);
        }
    }

    /** Returns what the member holds, so that waiting members are served at once, then closes the store. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
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

    private PermitStoreException left() {
        return PermitStoreException.permanent("Member %s has left the store".formatted(member.name()), null);
    }

    private final class Events implements StoreEvents {

        @Override
        public void ready(StoreSession next) {
            boolean sameMember;
            synchronized (this) {
                StoreSession before = previous;
                sameMember = before == null || before.member().equals(next.member());
                previous = next;
                unavailable = null;
                session = closed ? null : next;
            }
            each(worker -> {
                if (worker.ready(sameMember)) {
                    workers.remove(worker.key(), worker);
                }
            });
        }

        @Override
        public void unavailable(PermitStoreException reason) {
            unavailable = reason;
            each(worker -> worker.unavailable(reason));
        }

        @Override
        public void alive(long sentAtNanos) {
            listener.alive(sentAtNanos);
        }

        @Override
        public void lost() {
            synchronized (this) {
                session = null;
            }
            // the workers first: a claim that the core sends because of the loss comes behind it in the mailbox
            each(KeyWorker::sessionLost);
            listener.lost();
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

        private void one(String key, Consumer<KeyWorker<S>> event) {
            KeyWorker<S> worker = workers.get(key);
            if (worker != null) {
                worker.run(() -> event.accept(worker));
            }
        }
    }
}
