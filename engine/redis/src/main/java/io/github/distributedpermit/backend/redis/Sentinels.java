package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.WARNING;

import io.github.distributedpermit.backend.redis.SentinelView.Answer;
import io.github.distributedpermit.backend.redis.SentinelView.Master;
import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisURI;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the master that the Sentinels name: asks each of them once a second, and at once when one announces a fail-over or a
 * connection was lost. No call for a permit waits for it. Thread-safe; only {@link #findMaster} blocks.
 */
final class Sentinels implements MasterLocator {

    private static final System.Logger LOG = System.getLogger(Sentinels.class.getName());
    private static final long PERIOD_MILLIS = 1_000;

    /** The age up to which an answer counts. */
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** How long the search waits for the answers of the other Sentinels after the first one. */
    private static final Duration WAIT_FOR_OTHERS = Duration.ofMillis(300);

    private final OwnClient client;
    private final Duration timeout;
    private final Runnable changed;
    /** Guarded by the monitor of this object. */
    private final SentinelView view;

    private final List<SentinelNode> nodes = new ArrayList<>();
    private final ScheduledFuture<?> asking;
    /** The server that the Sentinels name now; {@code null} while none of them has answered lately. */
    private volatile @Nullable Master master;
    /** The same with the configuration epoch by which it is the master; {@code null} while that is not known. */
    private volatile @Nullable Vote chosen;
    /** The one before it, and the vote that has replaced it; {@code null} if it is not known that a majority has voted. */
    private volatile @Nullable Vote replaced;

    /**
     * Starts to ask.
     *
     * @param changed runs, on any thread, when another server has become the master
     */
    Sentinels(OwnClient client, String name, Duration timeout, Runnable changed) {
        this.client = client;
        this.timeout = timeout;
        this.changed = changed;
        List<RedisURI> uris = client.uris().sentinels();
        this.view = new SentinelView(uris.size());
        uris.forEach(uri -> nodes.add(new SentinelNode(client, uri, name, this::applyAnswers, this::recheckMaster)));
        this.asking = client.resources()
                .eventExecutorGroup()
                .scheduleAtFixedRate(this::recheckMaster, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void recheckMaster() {
        nodes.forEach(SentinelNode::askForMaster);
    }

    /** An answer has arrived: computes the master anew from all fresh ones. The callback runs without the monitor. */
    private void applyAnswers() {
        boolean moved;
        synchronized (this) {
            Master before = master;
            long epochBefore = view.newestEpoch();
            master = view.decide(fresh()).orElse(null);
            long epoch = view.newestEpoch();
            Master now = master;
            chosen = now == null || epoch == SentinelView.UNKNOWN_EPOCH ? null : new Vote(now, epoch);
            moved = before != null && !before.equals(now);
            if (before != null && moved) {
                boolean voted = epochBefore != SentinelView.UNKNOWN_EPOCH && epoch > epochBefore;
                replaced = voted ? new Vote(before, epoch) : null;
                LOG.log(
                        WARNING,
                        "The Sentinels name another master: {0} instead of {1}. Permits use the new master from now on; claims "
                                + "that the old one has not answered are repeated there",
                        master,
                        before);
            }
            notifyAll();
        }
        if (moved) {
            changed.run();
        }
    }

    private List<Answer> fresh() {
        long now = System.nanoTime();
        return nodes.stream()
                .flatMap(node -> node.answer(now - FRESH_NANOS).stream())
                .toList();
    }

    @Override
    public synchronized RedisURI findMaster() throws InterruptedException {
        if (master == null) {
            recheckMaster();
            await(timeout, 1);
            await(WAIT_FOR_OTHERS, nodes.size());
        }
        Master known = Optional.ofNullable(master)
                .orElseThrow(() -> PermitStoreException.passing(
                        "Redis can't be reached: no Sentinel names a master. Check spring.data.redis.sentinel.nodes and "
                                + "spring.data.redis.sentinel.master",
                        null));
        return client.uris().at(known.host(), known.port());
    }

    private void await(Duration longest, int answers) throws InterruptedException {
        long deadline = System.nanoTime() + longest.toNanos();
        while (fresh().size() < answers) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                return;
            }
            wait(left);
        }
    }

    @Override
    public boolean isMaster(RedisURI server) { // called for every notification, so it takes no lock
        Master known = master;
        return known == null || isAt(known, server);
    }

    @Override
    public long replacedBy(RedisURI server) {
        return epochOf(replaced, server);
    }

    @Override
    public long chosenBy(RedisURI server) {
        return epochOf(chosen, server);
    }

    private static long epochOf(@Nullable Vote vote, RedisURI server) {
        return vote != null && isAt(vote.about(), server) ? vote.epoch() : NO_VOTE;
    }

    private static boolean isAt(Master address, RedisURI server) {
        return address.port() == server.getPort() && address.host().equals(server.getHost());
    }

    /** What the Sentinels have decided about a server: since this configuration epoch it is the master, or is not any more. */
    private record Vote(Master about, long epoch) {}

    /** A server that refuses claims is replaced only when the Sentinels name another one. */
    @Override
    public boolean mayDiffer() {
        return false;
    }

    @Override
    public void close() {
        asking.cancel(false);
        nodes.forEach(SentinelNode::close);
    }
}
