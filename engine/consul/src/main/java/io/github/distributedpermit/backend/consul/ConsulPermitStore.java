package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.backend.consul.Work.Claiming;
import io.github.distributedpermit.backend.consul.Work.Overriding;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Consul as one member sees it. All state is confined to the member's loop. */
final class ConsulPermitStore implements PermitStore, Lane.Host {

    private static final int MAX_LIMIT = ConsulPermitBackend.MAX_LIMIT;
    private static final int MAX_RESTING = 1024;
    private static final long RETURN_MILLIS = 600;
    private static final long LEAVE_MILLIS = 300;

    private final ConsulSettings settings;
    private final Member member;
    private final HoldingListener listener;
    private final Loop loop;
    private final ConsulApi api;
    private final Membership membership;
    private final Spares spares;
    private final KeyLayout layout;
    private final Map<String, Lane> lanes = new HashMap<>();
    private final LinkedHashMap<String, Lane> resting = new LinkedHashMap<>();
    private long nonces;
    private volatile boolean closed;

    ConsulPermitStore(ConsulSettings settings, Member member, HoldingListener listener, LongSupplier ticker) {
        this.settings = settings;
        this.member = member;
        this.listener = listener;
        this.loop = new Loop("distributed-permit-consul", ticker);
        this.api = new ConsulApi(new ConsulHttp(() -> client(settings), settings, loop), settings);
        this.membership = new Membership(api, loop, settings, member, listener, this::mail, this::reset);
        this.spares = new Spares(api, loop, member);
        this.layout = KeyLayout.of(settings.layout());
        RecordedPermitsCheck check =
                new RecordedPermitsCheck(membership, api, loop, settings.sessionTtl(), lanes::values);
        UnusedSessions unused = new UnusedSessions(membership, spares, loop, settings.sessionTtl(), lanes::values);
        loop.execute(() -> {
            membership.work();
            check.begin();
            if (settings.layout() == ConsulLayout.LOCK_FILE) {
                unused.begin();
            }
        });
    }

    private static HttpClient client(ConsulSettings settings) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(settings.requestTimeout());
        settings.tls().ifPresent(builder::sslContext);
        return builder.build();
    }

    @Override
    public Optional<Duration> session() {
        return Optional.of(settings.sessionTtl());
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        if (claim.limit() > MAX_LIMIT) {
            return refused("limit " + claim.limit() + " of key " + KeyEncoding.encode(claim.key()));
        }
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        long now = loop.now();
        add(claim.key(), Claiming.of(claim, now, answer));
        return answer;
    }

    @Override
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        OverrideLimit.check(limit);
        if (limit.orElse(0) > MAX_LIMIT) {
            return refused("override " + limit.getAsInt() + " of key " + KeyEncoding.encode(key));
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        add(key, new Overriding(limit, done));
        return done;
    }

    private static <T> CompletionStage<T> refused(String what) {
        return CompletableFuture.failedFuture(PermitStoreException.permanent(
                "A key in Consul has at most " + MAX_LIMIT + " permits, so that Consul refuses " + what, null));
    }

    private void add(String key, Work work) {
        boolean offered = !closed
                && loop.offer(() -> {
                    if (closed) {
                        work.fail(left());
                    } else {
                        lane(KeyNames.of(settings.prefix(), key)).add(work);
                    }
                });
        if (!offered) {
            work.fail(left());
        }
    }

    private PermitStoreException left() {
        return PermitStoreException.permanent("Member " + member.name() + " has left Consul", null);
    }

    private Lane lane(KeyNames names) {
        resting.remove(names.encoded());
        return lanes.computeIfAbsent(names.encoded(), encoded -> new Lane(names, listener, this));
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        CompletableFuture<KeyState> state = new CompletableFuture<>();
        KeyNames names = KeyNames.of(settings.prefix(), key);
        boolean offered = !closed
                && loop.offer(() -> membership.session().whenComplete((session, failure) -> {
                    if (session == null) {
                        state.completeExceptionally(failure);
                    } else {
                        inspect(names, session, state);
                    }
                }));
        if (!offered) {
            state.completeExceptionally(left());
        }
        return state;
    }

    private void inspect(KeyNames names, Session session, CompletableFuture<KeyState> state) {
        api.transact(List.of(Op.get(session.fenceKey()), Op.getTree(names.tree())))
                .whenComplete((outcome, failure) -> {
                    try {
                        if (outcome instanceof Done done) {
                            state.complete(state(layout.read(names, done.tree())));
                        } else if (outcome instanceof Refused refused) {
                            state.completeExceptionally(Membership.refused(refused));
                        } else {
                            state.completeExceptionally(Membership.asStoreException(failure));
                        }
                    } catch (PermitStoreException e) {
                        state.completeExceptionally(e);
                    }
                });
    }

    private static KeyState state(Board board) {
        KeyState bySession = board.table().state(board.names().key());
        List<MemberState> members = bySession.members().stream()
                .map(m -> new MemberState(board.member(m.member()), m.permits(), m.wanted(), m.limit(), m.waiting()))
                .toList();
        return new KeyState(bySession.key(), bySession.used(), bySession.override(), members);
    }

    private void mail(Entry entry) {
        Lane lane = lanes.get(entry.key().substring(entry.key().lastIndexOf('/') + 1));
        if (lane != null) {
            lane.told(entry);
        }
    }

    private void reset() {
        // whatever they had is gone; only what somebody waits for goes on
        lanes.values().removeIf(Lane::isAtRest);
        resting.clear();
        lanes.values().forEach(Lane::reset);
    }

    @Override
    public void rested(Lane lane) {
        if (!lane.isIdle()) {
            return;
        }
        resting.put(lane.names().encoded(), lane);
        if (resting.size() > MAX_RESTING) {
            String oldest = resting.keySet().iterator().next();
            resting.remove(oldest);
            lanes.remove(oldest);
        }
    }

    @Override
    public Membership membership() {
        return membership;
    }

    @Override
    public Spares spares() {
        return spares;
    }

    @Override
    public ConsulApi api() {
        return api;
    }

    @Override
    public KeyLayout layout() {
        return layout;
    }

    @Override
    public Loop loop() {
        return loop;
    }

    @Override
    public String member() {
        return member.id();
    }

    @Override
    public ConsulSettings settings() {
        return settings;
    }

    @Override
    public String nonce() {
        nonces++;
        Session session = membership.current();
        return (session == null ? "" : session.id()) + ':' + nonces;
    }

    /** Gives back what it holds, so that lines are served at once, then ends the session: together within a second. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        await(RETURN_MILLIS, gone -> returnAll(gone));
        await(LEAVE_MILLIS, gone -> {
            List.copyOf(lanes.values()).forEach(lane -> lane.fail(left()));
            membership.close().whenComplete((done, failure) -> gone.run());
        });
        api.close();
        loop.end();
    }

    private void returnAll(Runnable done) {
        List<Lane> busy = lanes.values().stream().filter(lane -> !lane.isIdle()).toList();
        Session session = membership.current();
        if (session == null || busy.isEmpty()) {
            done.run();
            return;
        }
        List<CompletableFuture<Holding>> returns =
                busy.stream().map(this::returned).toList();
        CompletableFuture.allOf(returns.toArray(CompletableFuture[]::new))
                .whenComplete((nothing, failure) -> done.run());
    }

    private CompletableFuture<Holding> returned(Lane lane) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        Claim nothing =
                new Claim(lane.names().key(), 1, Long.MAX_VALUE, 0, 0, 0, Duration.ZERO, settings.sessionTtl(), false);
        lane.add(Claiming.of(nothing, loop.now(), answer));
        return answer;
    }

    private void await(long millis, Consumer<Runnable> task) {
        CountDownLatch done = new CountDownLatch(1);
        try {
            if (loop.offer(() -> task.accept(done::countDown))) {
                boolean intime = done.await(millis, TimeUnit.MILLISECONDS);
                if (!intime) {
                    System.getLogger(ConsulPermitStore.class.getName())
                            .log(System.Logger.Level.DEBUG, "Consul did not confirm in time that the member left");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
