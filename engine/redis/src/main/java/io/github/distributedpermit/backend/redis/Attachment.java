package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A connection for claims, with the claims that use it. It serves until it is lost or retired and is then replaced by
 * another: nothing of it is used again. Thread-safe.
 */
final class Attachment {

    /** How long nothing may come while something is awaited. The connection is then examined, and not yet given up. */
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** How often in a row, so that a standstill of this process is not taken for one of the server. */
    private static final int QUIET_LOOKS = 2;

    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final StatefulConnection<byte[], byte[]> state;
    private final @Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster;
    private final @Nullable RedisURI server;
    private final Outbox outbox;
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicLong answers = new AtomicLong();
    private volatile boolean refusing;
    private volatile boolean retired;

    // of the thread that looks after the connection
    private long seenAnswers;
    private long quietSince;
    private int quietLooks;
    private boolean suspected;

    Attachment(StatefulRedisConnection<byte[], byte[]> connection, RedisURI server, Outbox outbox) {
        this.state = connection;
        this.commands = connection.async();
        this.cluster = null;
        this.server = server;
        this.outbox = outbox;
    }

    Attachment(StatefulRedisClusterConnection<byte[], byte[]> connection, Outbox outbox) {
        this.state = connection;
        this.commands = connection.async();
        this.cluster = connection;
        this.server = null;
        this.outbox = outbox;
    }

    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return commands;
    }

    Outbox outbox() {
        return outbox;
    }

    boolean isCluster() {
        return cluster != null;
    }

    /** The server at the other end; {@code null} in a cluster. */
    @Nullable
    RedisURI server() {
        return server;
    }

    /** Runs when the connection is lost. */
    void onLoss(Runnable task) {
        state.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                task.run();
            }
        });
    }

    /**
     * Whether it is known to be cut off for good. In a cluster that one connection is lost says nothing: it is one node's,
     * others answer, and Lettuce makes it anew. There it is known only once the whole has been closed.
     */
    boolean isDown() {
        return retired || (cluster == null ? !state.isOpen() : isClosed(cluster));
    }

    private static boolean isClosed(StatefulRedisClusterConnection<byte[], byte[]> cluster) {
        return cluster instanceof RedisChannelHandler<?, ?> whole && whole.isClosed();
    }

    /** A command leaves. */
    void awaiting() {
        unanswered.incrementAndGet();
    }

    /** A command has ended: by an answer, or without. */
    void ended(boolean answered) {
        unanswered.decrementAndGet();
        if (answered) {
            answers.incrementAndGet();
        }
    }

    /** Looks whether commands have been unanswered for a while. Only for the thread that looks after the connection. */
    boolean looksSilent(long now) {
        if (suspected) {
            return true;
        }
        long seen = answers.get();
        if (unanswered.get() <= 0 || seen != seenAnswers || quietLooks == 0) {
            seenAnswers = seen;
            quietLooks = unanswered.get() > 0 ? 1 : 0;
            quietSince = now;
            return false;
        }
        return ++quietLooks > QUIET_LOOKS && now - quietSince >= QUIET_NANOS;
    }

    /** It has turned out to be well. */
    void isWell() {
        quietLooks = 0;
        suspected = false;
    }

    /** A command that was not a claim has been unanswered for long. */
    void suspect() {
        suspected = true;
    }

    /** The server says that it takes no claims: it is a replica, or has none, or lost its master. */
    void refusesClaims() {
        refusing = true;
    }

    /** Whether the server said so since this was asked last. */
    boolean refusedClaims() {
        boolean was = refusing;
        refusing = false;
        return was;
    }

    /** Whether answers count no more, for it is given up. */
    boolean isRetired() {
        return retired;
    }

    /** Gives it up: what was sent fails, what is answered from now on does not count. */
    void retire(PermitStoreException why) {
        retired = true;
        state.closeAsync();
        outbox.failAll(why);
    }

    /** Who answers for the key; outside of a cluster it is the same for all. */
    String node(@Nullable RedisKey key) {
        if (cluster == null || key == null) {
            return "";
        }
        RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key.state()));
        return node == null ? "" : node.getNodeId();
    }
}
