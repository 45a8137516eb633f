package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
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
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.curator.framework.CuratorFramework;

/** The ensemble as one member sees it: a session, a thread of its own, and a channel per key in use. */
final class ZooKeeperPermitStore implements PermitStore, MemberSession.Events {

    private static final System.Logger LOG = System.getLogger(ZooKeeperPermitStore.class.getName());
    private static final long PATIENCE_SECONDS = 2;
    private static final long FAREWELL_MILLIS = 800;
    private static final long LONGEST_TURN_MILLIS = 1_000;
    private static final int TURNS_PER_IDLE = 4;

    private final ConcurrentMap<String, KeyChannel> channels = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor scheduler;
    private final HoldingListener listener;
    private final Nodes nodes;
    private final MemberSession session;
    private final MemberContext context;
    private final IdleSweep sweep;
    private final Duration length;
    private volatile boolean closed;

    ZooKeeperPermitStore(
            CuratorFramework client,
            ZooKeeperSettings settings,
            Member member,
            HoldingListener listener,
            LongSupplier ticker) {
        this.listener = listener;
        this.length = settings.sessionTimeout();
        this.scheduler = scheduler(member);
        this.nodes = new Nodes(client, settings.root());
        this.session = new MemberSession(client, nodes, length, this, scheduler, ticker);
        this.context = new MemberContext(member.id(), nodes, session, listener, scheduler, ticker, new AtomicLong());
        this.sweep = new IdleSweep(channels, context, settings.idle().toNanos());
        long turn = Math.min(LONGEST_TURN_MILLIS, settings.idle().toMillis() / TURNS_PER_IDLE + 1);
        scheduler.scheduleWithFixedDelay(this::turn, turn, turn, TimeUnit.MILLISECONDS);
        session.begin();
    }

    private static ScheduledThreadPoolExecutor scheduler(Member member) {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "distributed-permit-zookeeper-" + member.id());
            thread.setDaemon(true);
            return thread;
        });
        scheduler.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return scheduler;
    }

    @Override
    public Optional<Duration> session() {
        return Optional.of(length);
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        while (!closed) {
            KeyChannel channel = channels.computeIfAbsent(claim.key(), key -> new KeyChannel(key, context));
            if (channel.claim(claim, answer)) {
                return answer;
            }
            channels.remove(claim.key(), channel);
        }
        return CompletableFuture.failedFuture(left());
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return whenReady(key)
                .thenCompose(
                        link -> nodes.checkRoot(link.zk()).thenCompose(ours -> nodes.read(link.zk(), nodes.path(key))))
                .thenApply(snapshot -> snapshot.table().state(key))
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(Faults.translate(key, e)));
    }

    @Override
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        OverrideLimit.check(limit);
        return whenReady(key).thenCompose(link -> new OverrideChange(context, key, limit).begin(link));
    }

    private CompletableFuture<Link> whenReady(String key) {
        if (closed) {
            return CompletableFuture.failedFuture(left());
        }
        return session.whenReady()
                .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(PermitStoreException.passing(
                        "No ZooKeeper server is connected to ask about '%s'".formatted(KeyEncoding.encode(key)), e)));
    }

    @Override
    public void ready(Link link) {
        channels.values().forEach(channel -> channel.settle(link));
    }

    @Override
    public void reconnected(Link link) {
        channels.values().forEach(channel -> channel.own().reconnected(link.zk()));
    }

    @Override
    public void alive(long sentAtNanos) {
        listener.alive(sentAtNanos);
    }

    @Override
    public void lost() {
        channels.values().forEach(KeyChannel::sessionLost);
        listener.lost();
    }

    private void turn() {
        Link link = session.link();
        if (link == null || closed) {
            return;
        }
        try {
            ready(link);
            sweep.run(link);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "Tidying up has failed once", e);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Link link = session.link();
        List<CompletableFuture<Void>> farewells = new ArrayList<>();
        for (KeyChannel channel : channels.values()) {
            List<String> own = channel.close(left());
            if (!own.isEmpty()) {
                farewells.add(link == null ? CompletableFuture.failedFuture(left()) : farewell(link, channel, own));
                farewells.get(farewells.size() - 1).exceptionally(e -> deleteSomeTime(own));
            }
        }
        await(CompletableFuture.allOf(farewells.toArray(CompletableFuture<?>[]::new)));
        session.end();
        scheduler.shutdownNow();
        channels.clear();
    }

    private CompletableFuture<Void> farewell(Link link, KeyChannel channel, List<String> own) {
        return new Departure(context, channel.path(), link)
                .begin()
                .thenCompose(done -> CompletableFuture.allOf(own.stream()
                        .map(node -> {
                            channel.own().unwatch(link.zk(), node);
                            return nodes.deleteIfThere(link.zk(), node);
                        })
                        .toArray(CompletableFuture<?>[]::new)));
    }

    private Void deleteSomeTime(List<String> own) {
        for (String node : own) {
            try {
                nodes.deleteSomeTime(node);
            } catch (Exception e) {
                LOG.log(System.Logger.Level.DEBUG, "The node vanishes with its session", e);
            }
        }
        return null;
    }

    private static void await(CompletableFuture<Void> farewells) {
        boolean interrupted = false;
        try {
            farewells.get(FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "What is left vanishes with the session", e);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** For tests: whether claims are sent at once. */
    boolean isReady() {
        return session.link() != null;
    }

    private PermitStoreException left() {
        return PermitStoreException.permanent("This member has left the store", null);
    }
}
