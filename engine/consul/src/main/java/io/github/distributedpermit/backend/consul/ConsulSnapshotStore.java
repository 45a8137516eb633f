package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SnapshotStore;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Consul as a {@link SnapshotStore}, as one member sees it. Thread-safe: everything that has state is confined to the
 * member's {@link EventLoop}, to which this class passes all calls.
 *
 * <p>It creates the parts of the backend and connects them: {@link Membership} for the session, {@link KeyReader} and
 * {@link KeyCommitter} for keys, {@link KeyUses} for what is remembered between requests. The layer calls it as its
 * store, and receives events from the loop.
 */
final class ConsulSnapshotStore implements SnapshotStore<ConsulSnapshot> {

    /** As long as {@link SnapshotStore#close} allows. */
    private static final long CLOSE_MILLIS = 300;

    /** The prefix and the TTL among others. */
    private final ConsulSettings settings;

    private final Member member;
    private final EventLoop loop;
    private final ConsulApi api;
    private final KeyLayout layout;
    /**
     * Makes each value that is written different: Consul does not change the index of a key that gets the same value.
     * Unique within the member, whose id or session is part of each nonce.
     */
    private final AtomicLong nonces = new AtomicLong();

    /** Requests under way. The loop drops what arrives for them after its end. */
    private final Set<CompletableFuture<?>> requests = ConcurrentHashMap.newKeySet();

    /** {@code null} before {@link #open}; set once. */
    private volatile @Nullable Opened opened;

    /** What exists from {@link #open} on, because it reports to the layer. */
    private record Opened(Membership membership, KeyUses uses, KeyReader reader, KeyCommitter committer) {}

    /**
     * Connects to nothing before it is opened.
     *
     * @param ticker the monotonic clock, in nanoseconds
     */
    ConsulSnapshotStore(ConsulSettings settings, Member member, LongSupplier ticker) {
        this.settings = settings;
        this.member = member;
        this.loop = new EventLoop("distributed-permit-consul", ticker);
        this.api = new ConsulApi(new ConsulHttp(() -> client(settings), settings, loop), settings);
        this.layout = KeyLayout.of(settings.layout());
    }

    /**
     * The client works on the thread that calls it, the event loop, and on its own one that waits for the sockets: each further
     * thread would be one more hand-over for each request. What {@link ConsulHttp} does there is short, and an Error in it does
     * not end that thread.
     */
    private static HttpClient client(ConsulSettings settings) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .executor(EventLoop::run)
                // An agent without TLS speaks no HTTP/2, and each first request would try to upgrade.
                .version(HttpClient.Version.HTTP_1_1)
                // A redirect would send the token to another server.
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(settings.requestTimeout());
        settings.tls().ifPresent(builder::sslContext);
        return builder.build();
    }

    /** Creates what reports to the layer, and requests the session. Returns before Consul has answered. */
    @Override
    public void open(StoreEvents events) {
        KeyUses uses = new KeyUses(settings.prefix(), events);
        Membership membership = new Membership(api, loop, settings, member, events, uses);
        AdditionalSessions additional =
                new AdditionalSessions(membership, api, loop, member, uses, settings.sessionTtl());
        KeyReader reader = new KeyReader(membership, api, layout, loop, settings);
        KeyCommitter committer = new KeyCommitter(
                membership, additional, api, layout, member.id(), session -> session + ':' + nonces.incrementAndGet());
        // Referred to only by its own tasks on the loop, which repeat until it ends.
        RecordedPermitsCheck check = new RecordedPermitsCheck(membership, api, loop, settings.sessionTtl(), uses);
        // Set before the loop can call back.
        opened = new Opened(membership, uses, reader, committer);
        loop.execute(() -> {
            membership.work();
            check.begin();
            if (settings.layout() == ConsulLayout.LOCK_FILE) {
                additional.beginToEndUnused();
            }
        });
    }

    /** The layer opens the store before all other calls. */
    private Opened opened() {
        Opened present = opened;
        if (present == null) {
            throw new IllegalStateException("Not opened");
        }
        return present;
    }

    EventLoop loop() {
        return loop;
    }

    /** For tests and the parts of this class that run on the loop. */
    Membership membership() {
        return opened().membership();
    }

    /**
     * The TTL. Consul may keep the session for up to twice as long, which only delays the release of a crashed
     * member's permits.
     */
    @Override
    public Duration session() {
        return settings.sessionTtl();
    }

    /** The {@link KeyUse} holds back notices until the read has ended, since its answer may include what they say. */
    @Override
    public CompletionStage<ConsulSnapshot> read(String key) {
        return onLoop(() -> opened().uses().during(membership(), key, opened().reader()::read));
    }

    /** The {@link KeyUse} is busy until the transaction was answered. */
    @Override
    public CompletionStage<Commit<ConsulSnapshot>> commit(PlannedCommit<ConsulSnapshot> planned) {
        KeyCommitter committer = opened().committer();
        return onLoop(() -> opened().uses().during(membership(), planned.key(), use -> committer.commit(use, planned)));
    }

    /** Changes nothing that is remembered for claims. */
    @Override
    public CompletionStage<ConsulSnapshot> inspect(String key) {
        return onLoop(() -> opened().reader().inspect(KeyNames.of(settings.prefix(), key)));
    }

    /** What begins with a dot lies beside the keys. */
    @Override
    public CompletionStage<List<String>> keyNames(int most) {
        String above = settings.prefix() + '/';
        return onLoop(() -> api.namesBelow(above)
                .thenApply(names -> names.stream()
                        .filter(name -> name.startsWith(above) && name.endsWith("/"))
                        .map(name -> name.substring(above.length(), name.length() - 1))
                        .filter(name -> !name.startsWith("."))
                        .toList()));
    }

    /** The fence of each session has the name of its member. */
    @Override
    public CompletionStage<Optional<String>> memberName(String session) {
        String fence = Session.fenceKey(settings.prefix(), session);
        return onLoop(() -> api.transact(List.of(TxnOperation.getTree(fence)))
                .thenApply(outcome -> Session.memberName(fence, outcome)));
    }

    /** Each round of the eviction reads the key and deletes what it has found there. */
    @Override
    public CompletionStage<Integer> evict(String key, String process) {
        return onLoop(
                // The nonce differs from those of claims, which begin with a session.
                () -> new Eviction(opened().reader(), api, () -> "operator:" + nonces.incrementAndGet() + member.id())
                        .evict(KeyNames.of(settings.prefix(), key), process));
    }

    private PermitStoreException left() {
        return PermitStoreException.permanent("Member " + member.name() + " has left Consul", null);
    }

    /**
     * Runs a task on the loop. It fails if the member has left, or leaves before it has ended.
     *
     * @param task returns a future that ends on the loop
     */
    private <T> CompletableFuture<T> onLoop(Supplier<CompletableFuture<T>> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        requests.add(result);
        result.whenComplete((value, failure) -> requests.remove(result));
        boolean offered = loop.offer(() -> {
            try {
                task.get().whenComplete((value, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(Membership.asStoreException(failure));
                    } else {
                        result.complete(value);
                    }
                });
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e); // or the key would stay blocked
                throw e;
            }
        });
        if (!offered) {
            result.completeExceptionally(left());
        }
        return result;
    }

    /** A key without entries: the first claim is one transaction, which fails if the key is in use after all. */
    @Override
    public ConsulSnapshot assumedUnused(String key) {
        return new ConsulSnapshot(layout.read(KeyNames.of(settings.prefix(), key), List.of()), 0, false);
    }

    /**
     * The guard and the places of the permits make a transaction fail that rests on a snapshot of another state.
     * Contention among members does not matter here: {@link KeyCommitter#isPlain} allows only changes that as a rule
     * do not conflict.
     */
    @Override
    public boolean mayCommitUnread(PlannedCommit<ConsulSnapshot> planned, boolean alone) {
        return KeyCommitter.isPlain(planned);
    }

    @Override
    public boolean hasOrphans(PlannedCommit<ConsulSnapshot> planned) {
        return planned.before().tree().hasOrphans(planned.member());
    }

    /** Only memory is released: the last change of a member has deleted its entries. */
    @Override
    public CompletionStage<Set<String>> release(Set<String> keys) {
        return onLoop(() -> {
            opened().uses().release(keys);
            return CompletableFuture.completedFuture(keys);
        });
    }

    /** Both layouts have this limit, because the place of a permit is part of the version. */
    @Override
    public @Nullable PermitStoreException refusal(String key, int limit) {
        return limit <= GrantVersion.MAX_LIMIT
                ? null
                : PermitStoreException.permanent(
                        "A key in Consul has at most %d permits, so limit %d of key '%s' is refused"
                                .formatted(GrantVersion.MAX_LIMIT, limit, KeyNames.shown(key)),
                        null);
    }

    /** Ends the session and waits for the answer for at most 300 ms; a session that was not ended expires by itself. */
    @Override
    public void close() {
        CountDownLatch done = new CountDownLatch(1);
        try {
            boolean offered = loop.offer(() -> membership().close().whenComplete((gone, failure) -> done.countDown()));
            if (offered && !done.await(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
                System.getLogger(ConsulSnapshotStore.class.getName())
                        .log(
                                System.Logger.Level.DEBUG,
                                "Consul did not confirm the end of the session within %d ms".formatted(CLOSE_MILLIS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // After the end of the session was requested: its request keeps its own connection until it is answered.
        api.close();
        loop.end();
        requests.forEach(request -> request.completeExceptionally(left()));
    }
}
