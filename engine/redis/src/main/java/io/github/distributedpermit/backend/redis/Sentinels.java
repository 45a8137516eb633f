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
 *
 * <p>It stores no connection to the master itself; it only decides which address is the master, and since which vote. The vote
 * is what {@link FormerMaster} needs to close a replaced server safely.
 */
final class Sentinels implements MasterLocator {

    private static final System.Logger LOG = System.getLogger(Sentinels.class.getName());
    /**
     * Between two questions to each Sentinel. A fail-over is found after this time even if its announcement is lost.
     */
    private static final long PERIOD_MILLIS = 1_000;

    /** The age up to which an answer counts. Three periods, so that one lost answer does not exclude a Sentinel. */
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** How long the search waits for the answers of the other Sentinels after the first one. */
    private static final Duration WAIT_FOR_OTHERS = Duration.ofMillis(300);

    /** Makes the connections and the address of the master. */
    private final OwnClient client;
    /** How long {@link #findMaster} waits for the first answer. */
    private final Duration timeout;
    /** Runs on a thread of Lettuce's. */
    private final Runnable changed;
    /** Guarded by the monitor of this object. */
    private final SentinelView view;

    /** In the order of the configuration. */
    private final List<SentinelNode> nodes = new ArrayList<>();
    /** Cancelled by {@link #close}; it runs on the threads of the application's factory. */
    private final ScheduledFuture<?> asking;
    /**
     * The server that the Sentinels name now; {@code null} while none of them has answered lately. Read without the
     * monitor for each notification; written with it.
     */
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

    /** A Sentinel whose last question is unanswered is not asked again. */
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
                // A higher epoch shows that a majority has voted. Without one the address may differ because other
                // Sentinels have answered.
                boolean voted = epochBefore != SentinelView.UNKNOWN_EPOCH && epoch > epochBefore;
                replaced = voted ? new Vote(before, epoch) : null;
                LOG.log(
                        WARNING,
                        "The Sentinels name another master: {0} instead of {1}. Permits use the new master from now on; claims "
                                + "that the old one has not answered are repeated there",
                        master,
                        before);
            }
            // For findMaster(), which waits for answers.
            notifyAll();
        }
        if (moved) {
            changed.run();
        }
    }

    /** At most one of each Sentinel. */
    private List<Answer> fresh() {
        long now = System.nanoTime();
        return nodes.stream()
                .flatMap(node -> node.answer(now - FRESH_NANOS).stream())
                .toList();
    }

    /** Waits only if no fresh answer exists; otherwise it returns at once. */
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

    /**
     * @param longest after which it returns with the answers that there are
     * @param answers how many fresh ones end the wait
     */
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

    /** Only for the server that was the master directly before the present one. */
    @Override
    public long replacedBy(RedisURI server) {
        return epochOf(replaced, server);
    }

    @Override
    public long chosenBy(RedisURI server) {
        return epochOf(chosen, server);
    }

    /** A vote about another server says nothing about this one. */
    private static long epochOf(@Nullable Vote vote, RedisURI server) {
        return vote != null && isAt(vote.about(), server) ? vote.epoch() : NO_VOTE;
    }

    /** Names are compared as text: the Sentinels and the connection use the same form. */
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

    /** No callback starts a connection after that. */
    @Override
    public void close() {
        asking.cancel(false);
        nodes.forEach(SentinelNode::close);
    }
}
