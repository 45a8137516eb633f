package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.INFO;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes connections for claims, to the server that is the master, and decides when one has to be replaced. Confined to one
 * thread, but for what the Sentinels report.
 */
final class Connector implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Connector.class.getName());

    /** Between two attempts to find a server that takes claims while the present one refuses them. */
    private static final long REFUSED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Between two replacements of a cluster's connection because of a silent node. */
    private static final long CLUSTER_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Commands of one node of a cluster that were unanswered in a row. */
    private static final int UNANSWERED = 2;

    private static final long SLOW_MILLIS = 500;

    private final LettuceConnectionFactory factory;
    private final Duration timeout;
    private final byte[] channel;
    private final Silence silence;
    private final Supplier<Outbox> outboxes;
    private final Runnable wake;
    private final Runnable masterMoved;
    private @Nullable OwnClient client;
    private volatile @Nullable MasterLocator locator; // also read by the threads of Lettuce
    private long lastReplacement = System.nanoTime() - CLUSTER_PAUSE_NANOS;
    private volatile @Nullable CompletableFuture<?> connecting;

    Connector(
            LettuceConnectionFactory factory,
            Duration timeout,
            byte[] channel,
            Silence silence,
            Supplier<Outbox> outboxes,
            Runnable wake,
            Runnable masterMoved) {
        this.factory = factory;
        this.timeout = timeout;
        this.channel = channel;
        this.silence = silence;
        this.outboxes = outboxes;
        this.wake = wake;
        this.masterMoved = masterMoved;
    }

    /** The client that the connections are of; made when first needed, for the factory may be started later. */
    OwnClient client() {
        OwnClient known = client;
        if (known != null && known.fits(factory)) {
            return known;
        }
        close();
        OwnClient made = OwnClient.of(factory, timeout);
        try {
            locator = locator(made);
        } catch (RuntimeException | Error e) {
            made.close(); // a client that is known is not made again, and would stay without a locator
            throw e;
        }
        client = made;
        return made;
    }

    private MasterLocator locator(OwnClient by) {
        ServerUris uris = by.uris();
        List<RedisURI> nodes = uris.staticNodes();
        if (!nodes.isEmpty()) {
            return new StaticNodes(by, nodes);
        }
        String watched = uris.sentinelMaster();
        if (watched != null) {
            return new Sentinels(by, watched, timeout, this::masterChanged);
        }
        return uris.isCluster() ? nowhere() : uris::single;
    }

    private static MasterLocator nowhere() {
        return () -> {
            throw new IllegalStateException("A cluster has no single master");
        };
    }

    /** A connection that is being made leads to the wrong server, and so may the present one. */
    private void masterChanged() {
        CompletableFuture<?> attempt = connecting;
        if (attempt != null) {
            attempt.cancel(false);
        }
        masterMoved.run();
    }

    /** Whether its server may take claims, as far as that is known; cheap, and for any thread. */
    boolean isMaster(Attachment to) {
        MasterLocator known = locator;
        RedisURI server = to.server();
        return known == null || server == null || known.isMaster(server);
    }

    /** A connection was lost: it may have been the master. */
    void doubt() {
        MasterLocator known = locator;
        if (known != null) {
            known.doubt();
        }
    }

    /** Connects; blocks, each step for the time-out at most, or until another server is the master. */
    Attachment connect() throws InterruptedException, ExecutionException, TimeoutException {
        OwnClient by = client();
        silence.clear();
        Attachment made;
        if (by.isCluster()) {
            made = new Attachment(by.connectToCluster(), outboxes.get());
        } else {
            MasterLocator known = locator;
            if (known == null) {
                throw new IllegalStateException("No client");
            }
            known.doubt();
            RedisURI master = known.master();
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> attempt = by.connect(master);
            connecting = attempt;
            try {
                if (!known.isMaster(master)) {
                    attempt.cancel(false); // since it was asked for
                }
                made = new Attachment(within(attempt, 2 * timeout.toMillis()), master, outboxes.get());
            } finally {
                connecting = null;
            }
        }
        if (!made.isCluster()) { // there Lettuce connects again itself, node by node
            made.onLoss(wake);
        }
        return made;
    }

    /** The connection that is to replace this one; {@code null} if it need not be replaced. */
    @Nullable
    Attachment successor(Attachment present) throws InterruptedException, ExecutionException, TimeoutException {
        long now = System.nanoTime();
        if (present.isCluster()) {
            if (!silence.isSilent(UNANSWERED) || now - lastReplacement < CLUSTER_PAUSE_NANOS) {
                return null;
            }
            lastReplacement = now;
            LOG.log(INFO, "A node of the Redis cluster does not answer; asking for the topology and connecting anew");
            return connect();
        }
        if (present.refusedClaims()) {
            doubt();
            MasterLocator known = locator;
            if (known == null || !known.mayDiffer() || now - lastReplacement < REFUSED_PAUSE_NANOS) {
                return null;
            }
            lastReplacement = now;
            LOG.log(INFO, "The Redis server takes no claims; connecting again to find one that does");
            return connect();
        }
        return present.looksSilent(now) ? ifDead(present) : null;
    }

    /**
     * A server that is busy answers neither on this connection nor on another one, and keeps its connection. If only another
     * one is answered, this one is dead: the network dropped it without a word, or an answer got lost half way.
     */
    private @Nullable Attachment ifDead(Attachment present)
            throws InterruptedException, ExecutionException, TimeoutException {
        doubt();
        CompletableFuture<?> question = ask(present);
        if (isAnswered(question, SLOW_MILLIS)) {
            present.isWell();
            return null;
        }
        Attachment fresh = connect();
        try {
            within(ask(fresh), timeout.toMillis());
        } catch (InterruptedException | ExecutionException | TimeoutException | RuntimeException e) {
            fresh.retire(Failures.of(e, null));
            throw e;
        }
        if (isAnswered(question, 0)) {
            present.isWell();
            fresh.retire(Failures.of(new TimeoutException(), null));
            return null;
        }
        LOG.log(INFO, "The connection to Redis is silent while another one is answered; it is given up");
        return fresh;
    }

    /** A command that has to wait wherever a claim has to: an empty message to the member itself, which it ignores. */
    private CompletableFuture<?> ask(Attachment of) {
        return of.commands().publish(channel, new byte[0]).toCompletableFuture();
    }

    private static boolean isAnswered(CompletableFuture<?> question, long millis) throws InterruptedException {
        try {
            question.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            return e.getCause() instanceof io.lettuce.core.RedisCommandExecutionException;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private static <T> T within(Future<T> answer, long millis)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(millis, TimeUnit.MILLISECONDS);
        } finally {
            answer.cancel(false);
        }
    }

    @Override
    public void close() {
        MasterLocator known = locator;
        locator = null;
        if (known != null) {
            known.close();
        }
        OwnClient made = client;
        client = null;
        if (made != null) {
            made.close();
        }
    }
}
