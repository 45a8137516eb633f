package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes connections for claims, to the server that is the master, and decides when one has to be replaced. Confined to the
 * thread of the {@link ConnectionManager}, except for {@link #isMaster} and for what a {@link MasterLocator} reports.
 *
 * <p>Where the master is comes from a {@link MasterLocator}; in a cluster Lettuce finds the node of each key itself.
 */
final class Connector implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Connector.class.getName());

    /** Between two attempts to find a server that takes claims while the present one refuses them. */
    private static final long REFUSED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Between two replacements of a cluster's connection because of a silent node. */
    private static final long CLUSTER_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Commands of one node of a cluster that were unanswered in a row. */
    private static final int UNANSWERED = 2;

    /** How long the present connection may take to answer before it is compared with a new one. */
    private static final long SLOW_MILLIS = 500;

    /** In a cluster, before the first attempt, and after {@link #close}: no code asks for the one master then. */
    private static final MasterLocator NO_MASTER = () -> {
        throw new IllegalStateException("There is no single master");
    };

    /** The application starts and stops it. */
    private final LettuceConnectionFactory factory;
    /** The command time-out of the settings. */
    private final Duration timeout;
    /** A message to it reaches only this member, which ignores it if it is empty. */
    private final byte[] channel;
    /** Shared with all connections; what it has counted belongs to the present one. */
    private final UnresponsiveNodes nodes;
    /** How long claims may block a connection in good order. */
    private final long blockedMillis;
    /** Wakes the thread of the ConnectionManager; must not block. */
    private final Runnable connectionLost;

    private volatile Runnable masterMoved = () -> {};
    /** {@code null} before the first attempt, and after {@link #close}. */
    private @Nullable OwnClient client;

    /** Also read by threads of Lettuce's. */
    private volatile MasterLocator locator = NO_MASTER;
    /** So initialised that the first replacement needs no pause. */
    private long lastReplacement = System.nanoTime() - CLUSTER_PAUSE_NANOS;
    /** The attempt to connect to the master, so that it can be ended when another server becomes the master. */
    private volatile @Nullable CompletableFuture<?> connecting;

    /**
     * Creates a connector, which connects to nothing yet.
     *
     * @param timeout bounds each step of connecting
     * @param channel of the member, for messages that test a connection
     * @param blockedMillis how long claims may block a connection, because they wait for a replica
     * @param connectionLost runs when a connection is lost, on any thread
     */
    Connector(
            LettuceConnectionFactory factory,
            Duration timeout,
            byte[] channel,
            UnresponsiveNodes nodes,
            long blockedMillis,
            Runnable connectionLost) {
        this.factory = factory;
        this.timeout = timeout;
        this.channel = channel;
        this.nodes = nodes;
        this.blockedMillis = blockedMillis;
        this.connectionLost = connectionLost;
    }

    /** Sets what runs when another server has become the master, on any thread. */
    void onMasterChange(Runnable task) {
        masterMoved = task;
    }

    /**
     * The client of all connections. It is made when it is first needed, because the factory may be started later. An
     * application may stop and start its factory, for example around a checkpoint or for another password. A new client is
     * made then.
     */
    OwnClient client() {
        OwnClient known = client;
        if (known != null && known.isOf(factory)) {
            return known;
        }
        close();
        OwnClient made = new OwnClient(factory, timeout);
        try {
            locator = locatorFor(made);
        } catch (RuntimeException | Error e) {
            made.close(); // a client that is kept is not made again, and would never get a locator
            throw e;
        }
        client = made;
        return made;
    }

    /** @param by asks the servers for their roles, or the Sentinels */
    private MasterLocator locatorFor(OwnClient by) {
        ServerUris uris = by.uris();
        List<RedisURI> listed = uris.staticNodes();
        if (!listed.isEmpty()) {
            return new StaticNodes(by, listed);
        }
        String watched = uris.sentinelMaster();
        if (watched != null) {
            return new Sentinels(by, watched, timeout, this::masterChanged);
        }
        return uris.isCluster() ? NO_MASTER : uris::single;
    }

    /** Whether the application has stopped its factory, which it had started. Its threads may have ended with it. */
    boolean isStoppedByApplication() {
        return client != null && !factory.isRunning();
    }

    /**
     * The present connection, and one that is being made, lead to the former master. Runs on a thread of Lettuce's,
     * which must not be blocked.
     */
    private void masterChanged() {
        CompletableFuture<?> attempt = connecting;
        if (attempt != null) {
            attempt.cancel(false);
        }
        masterMoved.run();
    }

    /**
     * Whether its server may take claims, as far as is known. Never blocks; for any thread. {@code true} while
     * nothing is known: otherwise no claim could be sent while no Sentinel answers.
     */
    boolean isMaster(SharedConnection to) {
        RedisURI server = to.server();
        return server == null || locator.isMaster(server);
    }

    /** As {@link MasterLocator#replacedBy}; for any thread. */
    long replacedBy(SharedConnection to) {
        RedisURI server = to.server();
        return server == null ? MasterLocator.NO_VOTE : locator.replacedBy(server);
    }

    /** As {@link MasterLocator#chosenBy}. */
    long chosenBy(SharedConnection to) {
        RedisURI server = to.server();
        return server == null ? MasterLocator.NO_VOTE : locator.chosenBy(server);
    }

    /** A connection was lost: its server may have been the master. */
    void recheckMaster() {
        locator.recheckMaster();
    }

    /**
     * Connects. Blocks, each step for the time-out at most, or until another server becomes the master. Counters of
     * unanswered commands start anew, since they belong to connections that are replaced.
     */
    SharedConnection connect() throws InterruptedException, ExecutionException, TimeoutException {
        OwnClient by = client();
        nodes.forgetAll();
        SharedConnection made =
                by.isCluster() ? new SharedConnection(by.connectToCluster(), nodes) : connectToMaster(by);
        made.onLoss(connectionLost);
        return made;
    }

    /** The attempt is stored while it lasts, so that {@link #masterChanged} can end it. */
    private SharedConnection connectToMaster(OwnClient by)
            throws InterruptedException, ExecutionException, TimeoutException {
        MasterLocator known = locator;
        // The last answer may be a second old, and a fail-over may have happened since.
        known.recheckMaster();
        RedisURI master = known.findMaster();
        CompletableFuture<StatefulRedisConnection<byte[], byte[]>> attempt = by.connect(master);
        connecting = attempt;
        try {
            if (!known.isMaster(master)) {
                attempt.cancel(false); // another server became the master before the attempt could be cancelled
            }
            // Connecting has several steps with a time-out each; twice the time-out bounds all of them together.
            return new SharedConnection(within(attempt, 2 * timeout.toMillis()), master, nodes, blockedMillis);
        } finally {
            connecting = null;
        }
    }

    /**
     * The connection that is to replace this one; {@code null} if it need not be replaced. Blocks for a few time-outs
     * at most; claims use the present connection meanwhile.
     */
    @Nullable
    SharedConnection replacementFor(SharedConnection present)
            throws InterruptedException, ExecutionException, TimeoutException {
        long now = System.nanoTime();
        OwnClient known = client;
        if (known != null && factory.isRunning() && !known.isOf(factory)) {
            LOG.log(INFO, "The Redis connection factory was started again or replaced; connecting as it says now");
            return connect();
        }
        if (present.isCluster()) {
            // A cluster's connection has one connection for each node. They can only be replaced together, so this is
            // done rarely.
            if (!nodes.isAnyUnresponsive(UNANSWERED) || now - lastReplacement < CLUSTER_PAUSE_NANOS) {
                return null;
            }
            lastReplacement = now;
            LOG.log(
                    INFO,
                    "A node of the Redis cluster does not answer; reading the topology and connecting again. Claims of its "
                            + "keys fail until the cluster has replaced the node; check it if this message repeats");
            return connect();
        }
        if (present.refusing.getAndSet(false)) {
            recheckMaster();
            // With Sentinels another connection would lead to the same server until they name another one.
            if (!locator.mayDiffer() || now - lastReplacement < REFUSED_PAUSE_NANOS) {
                return null;
            }
            lastReplacement = now;
            LOG.log(
                    INFO,
                    "The Redis server {0} takes no claims; connecting again to find a server that does. Check whether it is a "
                            + "replica, or has too few replicas, if this message repeats",
                    RedisAddress.of(factory));
            return connect();
        }
        return present.isSilent(now) ? replacementIfDead(present) : null;
    }

    /**
     * A busy server answers neither on this connection nor on another one, and keeps its connection. If only another
     * connection gets an answer, this one is dead: the network dropped packets, or an answer was lost in the middle.
     *
     * @return a new connection, or {@code null} if the present one works or the server answers on neither
     */
    private @Nullable SharedConnection replacementIfDead(SharedConnection present)
            throws InterruptedException, ExecutionException, TimeoutException {
        recheckMaster();
        CompletableFuture<?> question = publishEmptyMessage(present);
        if (isAnswered(question, SLOW_MILLIS + present.blockedMillis())) {
            present.markHealthy();
            return null;
        }
        SharedConnection fresh = null;
        boolean answered = false;
        try {
            fresh = connect();
            within(publishEmptyMessage(fresh), timeout.toMillis());
            answered = true;
        } catch (ExecutionException | TimeoutException e) {
            if (!isAnswered(question, 0)) {
                throw e;
            }
        } finally {
            if (!answered && fresh != null) {
                fresh.retire();
            }
        }
        // The answer of the present connection came while the new one was made: the server is slow.
        if (fresh == null || isAnswered(question, 0)) {
            present.markHealthy();
            if (answered && fresh != null) {
                fresh.retire();
            }
            return null;
        }
        LOG.log(
                INFO,
                "The connection to Redis is silent while a new one is answered; using the new one. Claims that were on the "
                        + "silent connection are repeated");
        return fresh;
    }

    /** Sends a command that has to wait wherever a claim has to: a message that the member ignores. */
    private CompletableFuture<?> publishEmptyMessage(SharedConnection over) {
        return over.commands().publish(channel, new byte[0]).toCompletableFuture();
    }

    /** An error of the server is an answer too; a closed connection is none. */
    private static boolean isAnswered(CompletableFuture<?> question, long millis) throws InterruptedException {
        try {
            question.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            return e.getCause() instanceof RedisCommandExecutionException;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** A connection that is made after the time-out is closed, see {@link OwnClient#connect}. */
    static <T> T within(Future<T> answer, long millis)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(millis, TimeUnit.MILLISECONDS);
        } finally {
            answer.cancel(false);
        }
    }

    /** The locator first, so that it reports nothing while the client is being closed. */
    @Override
    public void close() {
        MasterLocator known = locator;
        locator = NO_MASTER;
        known.close();
        OwnClient made = client;
        client = null;
        if (made != null) {
            made.close();
        }
    }
}
